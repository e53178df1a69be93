/** What follows a death: the whole matrix of restart type, cause and intent, and every limit reached. */
import { describe, expect, it } from 'vitest'
import { type BootStep, classOf, DEATH_CAUSES } from '../../src/model/death.ts'
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

const BASE: RestartCase = {
  supervisor: 'root',
  options: OPTIONS,
  cause: 'crash',
  life: { uptimeMs: 0, progressed: false },
  intent: 'running',
  shuttingDown: false,
  commanded: false,
  history: FRESH_HISTORY,
  budget: null,
  window: [],
  now: 1000,
  random: () => 0.5,
}

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

describe('restart type by cause by intent', () => {
  const intents = ['running', 'suspended', 'stopped'] as const
  const cells = RESTART_TYPES.flatMap((type) =>
    DEATH_CAUSES.flatMap((cause) => intents.map((intent) => ({ type, cause, intent }))),
  )

  it('is all of 3 by 16 by 3', () => {
    expect(cells).toHaveLength(144)
  })

  it.each(cells)('$type, $cause, $intent', ({ type, cause, intent }) => {
    const { decision } = decideRestart({ ...BASE, options: { ...OPTIONS, type }, cause, intent })
    const comesBack = type === 'permanent' || (type === 'transient' && classOf(cause) !== 'normal')
    if (intent !== 'running') expect(decision).toMatchObject({ action: 'none', rule: 'intent' })
    else if (comesBack) expect(decision).toMatchObject({ action: 'restart', rule: 'restart_type', delayMs: 0 })
    else expect(decision).toMatchObject({ action: 'none', rule: 'restart_type' })
    expect(decision.supervisor).toBe('root')
  })

  it('a transient child comes back when its place was reclaimed', () => {
    const transient = { ...OPTIONS, type: 'transient' } as const
    for (const cause of ['reclaimed', 'host_died'] as const) {
      expect(decideRestart({ ...BASE, options: transient, cause }).decision.action).toBe('restart')
    }
  })
})

describe('what overrules the restart type', () => {
  it.each([
    ['a shutdown of the host', { shuttingDown: true }, 'host_shutdown'],
    ['a command', { commanded: true }, 'command'],
    ['an intent that changed meanwhile', { intent: 'stopped' }, 'intent'],
    ['a shutdown, before a command', { shuttingDown: true, commanded: true, intent: 'stopped' }, 'host_shutdown'],
    ['a command, before the intent it wrote', { commanded: true, intent: 'suspended' }, 'command'],
  ] as const)('%s', (_name, circumstances, rule) => {
    for (const type of RESTART_TYPES) {
      const { decision, history, window } = decideRestart({ ...BASE, ...circumstances, options: { ...OPTIONS, type } })
      expect(decision).toEqual({ rule, action: 'none', supervisor: 'root', attempt: 0 })
      expect({ history, window }).toEqual({ history: FRESH_HISTORY, window: [] })
    }
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

  it('is stopped alone once its restarts in a row are used up', () => {
    const outcomes = loop(
      { ...BASE, options: { ...OPTIONS, maxRestarts: 3 }, budget: { intensity: 9, periodMs: 1 } },
      4,
    )
    expect(actions(outcomes)).toEqual(['restart', 'restart', 'restart', 'none'])
    expect(outcomes.at(-1)!.decision).toEqual({ rule: 'restart_limit', action: 'none', supervisor: 'root', attempt: 3 })
    expect(outcomes.at(-1)!.window).toEqual(outcomes.at(-2)!.window)
  })

  it('is never restarted with a limit of 0', () => {
    expect(decideRestart({ ...BASE, options: { ...OPTIONS, maxRestarts: 0 } }).decision.rule).toBe('restart_limit')
  })

  it('uses up the budget of its supervisor, which then gives up', () => {
    const budget = { intensity: 3, periodMs: 5000 }
    const outcomes = loop({ ...BASE, options: { ...OPTIONS, backoff: 'none' }, budget }, 4, 10)
    expect(actions(outcomes)).toEqual(['restart', 'restart', 'restart', 'give_up'])
    expect(outcomes.at(-1)!.decision).toEqual({
      rule: 'restart_intensity',
      action: 'give_up',
      supervisor: 'root',
      attempt: 3,
    })
    expect(outcomes.at(-1)!.window).toEqual([1000, 1010, 1020, 1030])
  })

  it('stays just within a budget for ever', () => {
    const budget = { intensity: 3, periodMs: 5000 }
    const outcomes = loop({ ...BASE, options: { ...OPTIONS, backoff: 'none' }, budget }, 100, 1667)
    expect(new Set(actions(outcomes))).toEqual(new Set(['restart']))
  })

  it('leaves the budget alone when it does not come back', () => {
    const temporary = { ...OPTIONS, type: 'temporary' } as const
    const budget = { intensity: 0, periodMs: 5000 }
    expect(decideRestart({ ...BASE, options: temporary, budget, window: [999] })).toMatchObject({
      decision: { action: 'none' },
      window: [999],
    })
  })

  it('is stopped alone at its fourth death by memory in ten minutes', () => {
    const hungry = { ...BASE, cause: 'out_of_memory' } as const
    expect(actions(loop(hungry, 4, 200_000))).toEqual(['restart', 'restart', 'restart', 'none'])
    expect(actions(loop(hungry, 20, 200_001))).not.toContain('none')
  })

  it('is not held to account for memory when it dies of something else', () => {
    const memoryDeaths = [1000, 1000, 1000]
    const { decision, history } = decideRestart({ ...BASE, history: { ...FRESH_HISTORY, memoryDeaths } })
    expect(decision.action).toBe('restart')
    expect(history.memoryDeaths).toEqual(memoryDeaths)
  })
})
