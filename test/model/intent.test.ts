/** Which command applies where, in every cell; the texts of refusals; ranks; and the record of an intent. */
import { describe, expect, it } from 'vitest'
import {
  COMMANDS,
  type Command,
  type CommandState,
  type IntentRecord,
  isValid,
  nextIntent,
  preempts,
  refusal,
  validCommands,
} from '../../src/model/intent.ts'
import { LIVE, PHASES } from '../../src/model/lifecycle.ts'

const BOOLS = [true, false] as const

const states: CommandState[] = PHASES.flatMap((phase) =>
  (['running', 'suspended', 'stopped'] as const).flatMap((intent) =>
    (['open', 'cordoned'] as const).flatMap((admission) =>
      BOOLS.flatMap((scheduled) => BOOLS.map((alive) => ({ phase, intent, admission, scheduled, alive }))),
    ),
  ),
)

/** The column "valid when" of the table of commands. */
function applies(command: Command, { phase, intent, admission, scheduled, alive }: CommandState): boolean {
  switch (command) {
    case 'start':
    case 'activate':
      return ['IDLE', 'STOPPED', 'FAILED'].includes(phase) && !scheduled
    case 'suspend':
    case 'restart':
      return intent === 'running'
    case 'stop':
      return intent === 'running' || intent === 'suspended'
    case 'pause':
      return intent === 'running' && admission !== 'cordoned'
    case 'resume':
      return admission === 'cordoned'
    case 'kill':
      return alive
  }
}

describe('eight commands in each of 216 states', () => {
  it('are all there', () => {
    expect(states).toHaveLength(216)
    expect(COMMANDS).toHaveLength(8)
  })

  it.each(COMMANDS)('%s applies where the table says, and is refused in words elsewhere', (command) => {
    for (const state of states) {
      const valid = applies(command, state)
      expect(isValid(command, state), JSON.stringify(state)).toBe(valid)
      expect(validCommands(state).includes(command)).toBe(valid)
      const text = refusal(command, 'greeter', state)
      if (valid) expect(text).toBeNull()
      else {
        expect(text).toMatch(new RegExp(`^Cannot apply '${command}' to agent 'greeter' in ${state.phase}`))
        expect(text).toMatch(/\. Valid commands: [a-z, ]+$/)
        expect(text).not.toMatch(new RegExp(`Valid commands:.*\\b${command}\\b`))
      }
    }
  })

  it('leave no state without a command', () => {
    for (const state of states) {
      // Stopped, open, scheduled or live without a thread: a state on the way to another, where nothing can be asked.
      if (state.intent === 'stopped' && (state.scheduled || LIVE.has(state.phase))) continue
      expect(validCommands(state).length, JSON.stringify(state)).toBeGreaterThan(0)
    }
  })
})

describe('a refusal', () => {
  const paused = { phase: 'PAUSED', intent: 'running', admission: 'cordoned', scheduled: false, alive: true } as const
  const ended = { phase: 'STOPPED', intent: 'stopped', admission: 'open', scheduled: false, alive: false } as const

  it.each<[Command, CommandState, string]>([
    [
      'pause',
      paused,
      "Cannot apply 'pause' to agent 'greeter' in PAUSED. Valid commands: resume, suspend, stop, restart, kill",
    ],
    [
      'start',
      paused,
      "Cannot apply 'start' to agent 'greeter' in PAUSED. Valid commands: resume, suspend, stop, restart, kill",
    ],
    ['stop', ended, "Cannot apply 'stop' to agent 'greeter' in STOPPED (stopped). Valid commands: start, activate"],
    [
      'restart',
      { ...ended, intent: 'suspended' },
      "Cannot apply 'restart' to agent 'greeter' in STOPPED (suspended). Valid commands: start, activate, stop",
    ],
    [
      'start',
      { ...ended, intent: 'running', scheduled: true },
      "Cannot apply 'start' to agent 'greeter' in STOPPED with a start scheduled. Valid commands: pause, suspend, stop, restart",
    ],
    [
      'kill',
      { ...ended, phase: 'STOPPING' },
      "Cannot apply 'kill' to agent 'greeter' in STOPPING. Valid commands: none",
    ],
  ])('of %s reads as it should', (command, state, text) => {
    expect(refusal(command, 'greeter', state)).toBe(text)
  })
})

describe('pre-emption', () => {
  const order: readonly (readonly Command[])[] = [
    ['start', 'activate', 'pause', 'resume'],
    ['restart'],
    ['suspend'],
    ['stop'],
    ['kill'],
  ]
  const rank = (command: Command): number => order.findIndex((rung) => rung.includes(command))

  it.each(COMMANDS.flatMap((newcomer) => COMMANDS.map((holder) => [newcomer, holder] as const)))(
    '%s against %s goes by rank, and equals do not',
    (newcomer, holder) => {
      expect(preempts(newcomer, holder)).toBe(rank(newcomer) > rank(holder))
    },
  )
})

describe('the record of an intent', () => {
  const by = { by: 'ann', reason: null, at: 100 }
  const first = nextIntent(undefined, { ...by, intent: 'running' }, 'stopped')

  it('begins open, at generation 1', () => {
    expect(first).toEqual<IntentRecord>({
      intent: 'running',
      admission: 'open',
      generation: 1,
      by: 'ann',
      reason: null,
      at: 100,
      pausedSince: null,
      pausedBy: null,
      pausedReason: null,
    })
  })

  it('falls back where nothing was wanted before', () => {
    expect(nextIntent(undefined, { ...by, admission: 'cordoned' }, 'stopped')).toMatchObject({
      intent: 'stopped',
      admission: 'cordoned',
      pausedSince: 100,
      pausedBy: 'ann',
    })
  })

  it('keeps what a change does not name', () => {
    const cordoned = nextIntent(first, { ...by, admission: 'cordoned', at: 200 }, 'stopped')
    const suspended = nextIntent(cordoned, { by: 'bob', reason: 'upgrade', at: 300, intent: 'suspended' }, 'stopped')
    expect(suspended).toEqual<IntentRecord>({
      intent: 'suspended',
      admission: 'cordoned',
      generation: 3,
      by: 'bob',
      reason: 'upgrade',
      at: 300,
      pausedSince: 200,
      pausedBy: 'ann',
      pausedReason: null,
    })
  })

  it('keeps apart who wanted it to stop and who shut its gate', () => {
    const stopped = nextIntent(first, { by: 'ann', reason: 'upgrade', at: 200, intent: 'stopped' }, 'stopped')
    const paused = nextIntent(stopped, { by: 'bob', reason: 'a look', at: 300, admission: 'cordoned' }, 'stopped')
    expect(paused).toMatchObject({ by: 'ann', reason: 'upgrade', at: 200, pausedBy: 'bob', pausedReason: 'a look' })
    const open = nextIntent(paused, { by: 'eve', reason: null, at: 400, admission: 'open' }, 'stopped')
    expect(open).toMatchObject({ by: 'ann', reason: 'upgrade', at: 200, pausedReason: null })
  })

  it('remembers the first cordon, and forgets it when opened', () => {
    const once = nextIntent(first, { ...by, admission: 'cordoned', at: 200 }, 'running')
    const twice = nextIntent(once, { by: 'bob', reason: null, at: 300, admission: 'cordoned' }, 'running')
    expect(twice).toMatchObject({ pausedSince: 200, pausedBy: 'ann' })
    const open = nextIntent(twice, { by: 'bob', reason: null, at: 400, admission: 'open' }, 'running')
    expect(open).toMatchObject({ pausedSince: null, pausedBy: null, generation: 4 })
  })
})
