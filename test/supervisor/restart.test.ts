/** What follows a death: the whole matrix of restart type, cause, word and intent, and every limit reached and passed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BootStep, classOf, DEATH_CAUSES, type Told } from '../../src/model/death.ts'
import { BACKOFF_DEFAULTS } from '../../src/supervisor/backoff.ts'
import {
  decideRestart,
  FRESH_HISTORY,
  RESTART_TYPES,
  type RestartCase,
  type RestartOptions,
  type RestartOutcome,
} from '../../src/supervisor/restart.ts'

const OPTIONS: RestartOptions = { ...BACKOFF_DEFAULTS, type: 'permanent', maxRestarts: null }
const AT_ONCE: RestartOptions = { ...OPTIONS, backoff: 'none' }

const BASE: RestartCase = {
  supervisor: 'root',
  child: 'a',
  deathId: 'd',
  options: OPTIONS,
  cause: 'crash',
  life: { uptimeMs: 0, progressed: false },
  intent: 'running',
  shuttingDown: false,
  told: null,
  history: FRESH_HISTORY,
  budget: null,
  window: [],
  now: 1000,
  random: () => 0.5,
}

const TOLD: readonly (Told | null)[] = [
  null,
  { rule: 'strategy', by: 'sibling' },
  { rule: 'command', by: 'ops' },
  { rule: 'supervisor', by: 'outer' },
  { rule: 'host_shutdown', by: 'SIGTERM' },
]

/** The same death over and over, each with what the one before left. */
function loop(death: RestartCase, times: number, everyMs = 0): RestartOutcome[] {
  const outcomes: RestartOutcome[] = []
  let current = death
  for (let i = 0; i < times; i++) {
    const outcome = decideRestart(current)
    outcomes.push(outcome)
    current = { ...current, history: outcome.history, window: outcome.window, now: current.now + everyMs }
  }
  return outcomes
}

const actions = (outcomes: readonly RestartOutcome[]) => outcomes.map(({ decision }) => decision.action)

describe('restart type by cause by word by intent', () => {
  const intents = ['running', 'suspended', 'stopped'] as const
  const cells = RESTART_TYPES.flatMap((type) =>
    DEATH_CAUSES.flatMap((cause) =>
      TOLD.flatMap((told) => intents.map((intent) => ({ type, cause, told, intent, word: told?.rule ?? 'nobody' }))),
    ),
  )

  it('is all of 3 by 16 by 5 by 3', () => {
    expect(cells).toHaveLength(720)
  })

  /** As the page on semantics tells it. */
  function expected({ type, cause, told, intent }: (typeof cells)[number]): object {
    const by = told === null ? {} : { by: told.by }
    if (told !== null && told.rule !== 'strategy') return { rule: told.rule, action: 'none', ...by }
    if (intent !== 'running') return { rule: 'intent', action: 'none', ...by }
    if (told !== null) {
      if (type === 'temporary') return { rule: 'strategy', action: 'none', ...by }
      return { rule: 'strategy', action: 'restart', delayMs: 0, ...by }
    }
    const comesBack = type === 'permanent' || (type === 'transient' && classOf(cause) !== 'normal')
    return comesBack
      ? { rule: 'restart_type', action: 'restart', delayMs: 0 }
      : { rule: 'restart_type', action: 'none' }
  }

  it.each(cells)('$type, $cause, told by $word, $intent', (cell) => {
    const { type, cause, told, intent } = cell
    const budget = { intensity: 3, periodMs: 5000 }
    const outcome = decideRestart({ ...BASE, options: { ...AT_ONCE, type }, cause, told, intent, budget })
    const counted = told === null && (outcome.decision.action as string) === 'restart'
    expect(outcome.decision).toEqual({ supervisor: 'root', attempt: counted ? 1 : 0, ...expected(cell) })
    // Only a restart that nobody ordered counts against anything.
    expect(outcome.window).toEqual(counted ? [{ at: 1000, child: 'a', deathId: 'd' }] : [])
  })

  it('a transient child comes back when its place was reclaimed', () => {
    const transient = { ...OPTIONS, type: 'transient' } as const
    for (const cause of ['reclaimed', 'host_died'] as const) {
      expect(decideRestart({ ...BASE, options: transient, cause }).decision.action).toBe('restart')
    }
  })
})

describe('what overrules the restart type', () => {
  it.each(RESTART_TYPES.flatMap((type) => TOLD.map((told) => ({ type, told, word: told?.rule ?? 'nobody' }))))(
    'a shutdown of the host, for a $type child told by $word',
    ({ type, told }) => {
      const death = { ...BASE, options: { ...OPTIONS, type }, told, shuttingDown: true, intent: 'stopped' } as const
      const { decision, history, window } = decideRestart(death)
      expect(decision).toMatchObject({ rule: 'host_shutdown', action: 'none' })
      expect({ history, window }).toEqual({ history: FRESH_HISTORY, window: [] })
    },
  )

  it('a command, before the intent it wrote', () => {
    const told = { rule: 'command', by: 'ops' } as const
    expect(decideRestart({ ...BASE, told, intent: 'suspended' }).decision).toMatchObject({ rule: 'command', by: 'ops' })
  })

  const steps: readonly (readonly [BootStep, boolean])[] = [
    ['manifest', true],
    ['env', true],
    ['identity', true],
    ['gate', true],
    ['needs', true],
    ['compile', false],
    ['thread', false],
    ['credential', false],
    ['roles', false],
    ['capabilities', false],
  ]

  it.each(steps)('a boot that failed at %s is final: %s', (step, final) => {
    const { decision } = decideRestart({ ...BASE, cause: 'boot_failed', step })
    expect(decision.action).toBe(final ? 'none' : 'restart')
    expect(decision.rule).toBe(final ? 'final_boot_failure' : 'restart_type')
  })
})

describe('ended along with a sibling', () => {
  const told = { rule: 'strategy', by: 'sibling' } as const

  it('says how long until its turn to start', () => {
    expect(decideRestart({ ...BASE, told, groupDelayMs: 4000 }).decision).toEqual({
      rule: 'strategy',
      action: 'restart',
      delayMs: 4000,
      supervisor: 'root',
      attempt: 0,
      by: 'sibling',
    })
  })

  it('leaves its own attempts, its limits and the budget as they were', () => {
    const used = loop({ ...BASE, options: { ...AT_ONCE, maxRestarts: 3 } }, 3).at(-1)!
    const budget = { intensity: 0, periodMs: 5000 }
    const outcome = decideRestart({
      ...BASE,
      options: { ...AT_ONCE, maxRestarts: 3 },
      history: used.history,
      told,
      budget,
    })
    expect(outcome.decision).toMatchObject({ rule: 'strategy', action: 'restart', attempt: 3 })
    expect(outcome).toMatchObject({ history: used.history, window: [] })
  })
})

describe('a child in a loop', () => {
  it('is restarted at once, then by backoff, and each decision says the attempt', () => {
    expect(loop(BASE, 4).map(({ decision }) => decision)).toEqual([
      { rule: 'restart_type', action: 'restart', delayMs: 0, supervisor: 'root', attempt: 1 },
      { rule: 'backoff', action: 'restart', delayMs: 1000, supervisor: 'root', attempt: 2 },
      { rule: 'backoff', action: 'restart', delayMs: 2000, supervisor: 'root', attempt: 3 },
      { rule: 'backoff', action: 'restart', delayMs: 4000, supervisor: 'root', attempt: 4 },
    ])
  })

  it('is never given up with backoff alone', () => {
    expect(new Set(actions(loop(BASE, 1000)))).toEqual(new Set(['restart']))
  })

  it('starts afresh after a life that made progress', () => {
    const { history } = loop(BASE, 5).at(-1)!
    const { decision } = decideRestart({ ...BASE, history, life: { uptimeMs: 20_000, progressed: true } })
    expect(decision).toMatchObject({ action: 'restart', delayMs: 0, attempt: 1 })
  })
})

describe('the limit of restarts in a row', () => {
  it.each([1, 2, 3, 10])('%i: so many are made, and with the next death it is stopped alone', (maxRestarts) => {
    const wide = { intensity: 100, periodMs: 1 }
    const outcomes = loop({ ...BASE, options: { ...AT_ONCE, maxRestarts }, budget: wide }, maxRestarts + 1)
    expect(actions(outcomes)).toEqual([...Array<string>(maxRestarts).fill('restart'), 'none'])
    expect(outcomes.at(-1)!.decision).toEqual({
      rule: 'restart_limit',
      action: 'none',
      supervisor: 'root',
      attempt: maxRestarts,
    })
    // Nothing is restarted, so nothing counts against the supervisor.
    expect(outcomes.at(-1)!.window).toEqual(outcomes.at(-2)!.window)
  })

  it('0 never restarts', () => {
    expect(decideRestart({ ...BASE, options: { ...OPTIONS, maxRestarts: 0 } }).decision.rule).toBe('restart_limit')
  })

  it('comes before the budget of the supervisor, which it spares', () => {
    const budget = { intensity: 2, periodMs: 5000 }
    const outcomes = loop({ ...BASE, options: { ...AT_ONCE, maxRestarts: 2 }, budget }, 3)
    expect(actions(outcomes)).toEqual(['restart', 'restart', 'none'])
  })

  it('counts only what is in a row', () => {
    const limited = { ...BASE, options: { ...AT_ONCE, maxRestarts: 2 } }
    const { history } = loop(limited, 2).at(-1)!
    const worked = { uptimeMs: 10_000, progressed: true }
    const next = decideRestart({ ...limited, history, life: worked })
    expect(next.decision).toMatchObject({ action: 'restart', attempt: 1 })
    expect(actions(loop({ ...limited, history: next.history }, 2))).toEqual(['restart', 'none'])
  })
})

describe('the budget of its supervisor', () => {
  it.each([0, 1, 2, 3, 10])('%i: so many restarts, and with the next death it gives up', (intensity) => {
    const budget = { intensity, periodMs: 5000 }
    const outcomes = loop({ ...BASE, options: AT_ONCE, budget }, intensity + 1, 10)
    expect(actions(outcomes)).toEqual([...Array<string>(intensity).fill('restart'), 'give_up'])
    expect(outcomes.at(-1)!.decision).toEqual({
      rule: 'restart_intensity',
      action: 'give_up',
      supervisor: 'root',
      attempt: intensity,
    })
    expect(outcomes.at(-1)!.window.map(({ at }) => at)).toEqual(
      Array.from({ length: intensity + 1 }, (_, index) => 1000 + 10 * index),
    )
  })

  it('is passed by a restart exactly one period after the first, and not by one a millisecond later', () => {
    const budget = { intensity: 1, periodMs: 5000 }
    expect(actions(loop({ ...BASE, options: AT_ONCE, budget }, 2, 5000))).toEqual(['restart', 'give_up'])
    expect(actions(loop({ ...BASE, options: AT_ONCE, budget }, 2, 5001))).toEqual(['restart', 'restart'])
  })

  it('lasts for ever at a pace just within it', () => {
    const budget = { intensity: 3, periodMs: 5000 }
    const outcomes = loop({ ...BASE, options: AT_ONCE, budget }, 100, 1667)
    expect(new Set(actions(outcomes))).toEqual(new Set(['restart']))
  })

  it('is left alone by a child that does not come back', () => {
    const temporary = { ...OPTIONS, type: 'temporary' } as const
    const budget = { intensity: 0, periodMs: 5000 }
    const window = [{ at: 999, child: 'b', deathId: 'e' }]
    expect(decideRestart({ ...BASE, options: temporary, budget, window })).toMatchObject({
      decision: { action: 'none' },
      window,
    })
  })

  it('holds over all children: the restarts of one count for the next', () => {
    const budget = { intensity: 2, periodMs: 5000 }
    const { window } = loop({ ...BASE, options: AT_ONCE, budget }, 2).at(-1)!
    const other = decideRestart({ ...BASE, child: 'b', options: AT_ONCE, budget, window })
    expect(other.decision).toMatchObject({ rule: 'restart_intensity', action: 'give_up', attempt: 0 })
    expect(other.window.map(({ child }) => child)).toEqual(['a', 'a', 'b'])
  })
})

describe('deaths by memory', () => {
  const hungry = { ...BASE, options: AT_ONCE, cause: 'out_of_memory' } as const

  it('three in ten minutes are restarted, the fourth stops it alone', () => {
    const outcomes = loop(hungry, 4, 200_000)
    expect(actions(outcomes)).toEqual(['restart', 'restart', 'restart', 'none'])
    expect(outcomes.at(-1)!.decision).toMatchObject({ rule: 'restart_limit', attempt: 3 })
  })

  it('the fourth exactly ten minutes after the first is one too many; a millisecond later it is not', () => {
    expect(actions(loop(hungry, 4, 200_000)).at(-1)).toBe('none')
    expect(actions(loop(hungry, 20, 200_001))).not.toContain('none')
  })

  it('count by themselves: other causes between them neither add nor take', () => {
    const memoryDeaths = [{ at: 1000 }, { at: 1000 }, { at: 1000 }]
    const full = { ...hungry, history: { ...FRESH_HISTORY, memoryDeaths } }
    const other = decideRestart({ ...full, cause: 'crash' })
    expect(other.decision.action).toBe('restart')
    expect(other.history.memoryDeaths).toEqual(memoryDeaths)
    expect(decideRestart({ ...full, history: other.history }).decision.rule).toBe('restart_limit')
  })

  it('count for a life with progress too, which only makes the delays begin anew', () => {
    const outcomes = loop({ ...hungry, life: { uptimeMs: 60_000, progressed: true } }, 4, 60_000)
    expect(actions(outcomes)).toEqual(['restart', 'restart', 'restart', 'none'])
    expect(outcomes.map(({ decision }) => decision.attempt)).toEqual([1, 1, 1, 0])
  })
})

describe('C070 C073 quick ends', () => {
  it('C070 with a stableMs of 0 still count, so that a limit ends the loop', () => {
    const options = { ...AT_ONCE, stableMs: 0, maxRestarts: 3 }
    const outcomes = loop({ ...BASE, options, cause: 'exit', life: { uptimeMs: 1, progressed: false } }, 4)
    expect(actions(outcomes)).toEqual(['restart', 'restart', 'restart', 'none'])
  })

  it('C073 a life is as long as it was: a delay before it does not make it stable', () => {
    const backoff = { minMs: 5000, maxMs: 5000, factor: 1, jitter: 0 }
    const options = { ...OPTIONS, backoff, stableMs: 3000, maxRestarts: 3 }
    const short = loop({ ...BASE, options, life: { uptimeMs: 10, progressed: true } }, 4, 5010)
    expect(actions(short)).toEqual(['restart', 'restart', 'restart', 'none'])
    // Thirty seconds of work are longer than stableMs and than the delay: each is a first failure again.
    const long = loop({ ...BASE, options, life: { uptimeMs: 30_000, progressed: true } }, 10, 30_000)
    expect(new Set(long.map(({ decision }) => decision.attempt))).toEqual(new Set([1]))
  })
})

describe('for any death', () => {
  const deaths = fc.record({
    type: fc.constantFrom(...RESTART_TYPES),
    cause: fc.constantFrom(...DEATH_CAUSES),
    told: fc.constantFrom(...TOLD),
    intent: fc.constantFrom('running' as const, 'suspended' as const, 'stopped' as const),
    shuttingDown: fc.boolean(),
    maxRestarts: fc.option(fc.nat({ max: 3 })),
    budget: fc.option(fc.record({ intensity: fc.nat({ max: 3 }), periodMs: fc.integer({ min: 1, max: 10_000 }) })),
    gapMs: fc.nat({ max: 4000 }),
  })

  it('nothing that is not wanted, or that somebody ended for good, comes back; and no window holds more than one too many', () => {
    fc.assert(
      fc.property(fc.array(deaths, { maxLength: 40 }), (all) => {
        let { history, window } = { history: FRESH_HISTORY, window: BASE.window }
        let now = 0
        for (const { type, maxRestarts, gapMs, ...rest } of all) {
          now += gapMs
          const options = { ...AT_ONCE, type, maxRestarts }
          const outcome = decideRestart({ ...BASE, ...rest, options, history, window, now })
          const { action, rule } = outcome.decision
          const ordered = rest.told !== null && rest.told.rule !== 'strategy'
          if (ordered || rest.intent !== 'running' || rest.shuttingDown) expect(action).toBe('none')
          if (type === 'temporary') expect(action).toBe('none')
          if (action === 'give_up') expect(rule).toBe('restart_intensity')
          if (rest.budget !== null && action === 'restart' && rule !== 'strategy') {
            const { intensity, periodMs } = rest.budget
            expect(outcome.window.filter(({ at }) => now - at <= periodMs).length).toBeLessThanOrEqual(intensity)
          }
          history = outcome.history
          window = outcome.window
        }
      }),
    )
  })
})
