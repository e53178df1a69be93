/** One agent over several instances, with threads played by the test: nothing of a dead one reaches the next. */
import { afterEach, describe, expect, it } from 'vitest'
import { Agent } from '../../src/actors/agent.ts'
import type { AgentDeps, AgentSpec, Prepared } from '../../src/actors/agent-spec.ts'
import type { Router } from '../../src/actors/outbound.ts'
import { tasksOf } from '../../src/actors/snapshot.ts'
import type { Threads } from '../../src/actors/spawn.ts'
import type { IntentRecord } from '../../src/model/intent.ts'
import type { Answers, RoleInfo } from '../../src/model/wire.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { PlayedWorker } from './played-worker.ts'
import { MAILBOX, PlayedJournal } from './tested-inbox.ts'

const workers: PlayedWorker[] = []
const played = { roles: [] as RoleInfo[] }

const threads: Threads = {
  take: () => {
    const worker = new PlayedWorker()
    worker.roles = played.roles
    workers.push(worker)
    return worker
  },
}

const limits = {
  heapMb: 64,
  bootTimeoutMs: 1000,
  stopTimeoutMs: 1000,
  pauseTimeoutMs: 1000,
  abortGraceMs: 1000,
  handlerTimeoutMs: 0,
  unresponsiveAfterMs: 5000,
  killAfterMs: 15_000,
}
const spec: AgentSpec = {
  id: 'a',
  name: 'A',
  version: '1.0.0',
  autostart: true,
  mailbox: MAILBOX,
  limits,
  restart: { unkillable: 'wait' },
}
const prepared: Prepared = { spec, env: {}, roles: [], files: new Map(), mounts: [], lend: null, accept: () => {} }
const intent: IntentRecord = {
  intent: 'running',
  admission: 'open',
  generation: 1,
  by: 'test',
  reason: null,
  at: 0,
  pausedSince: null,
  pausedBy: null,
  pausedReason: null,
}

class TestedAgent {
  readonly clock = new FakeClock()
  /** Asks of the agent to others, still open. */
  readonly asked: { readonly name: string; readonly answer: (value: unknown) => void }[] = []
  readonly agent: Agent
  intent = intent
  #onAsked: () => void = () => {}

  constructor() {
    const router: Router = {
      tell: () => true,
      emit: async () => ({ fate: 'handled' }),
      ask: (_from, _to, name) =>
        new Promise((answer) => {
          this.asked.push({ name, answer })
          this.#onAsked()
        }),
      request: async () => {},
      now: () => this.clock.now(),
    }
    let ids = 0
    let epochs = 0
    this.agent = new Agent(spec, {
      clock: this.clock,
      newId: (prefix: string) => `${prefix}_${++ids}`,
      begin: async () => ++epochs,
      beginNext: async () => ++epochs,
      bringIntoForce: () => {},
      onDropped: (_agent, draft, by) => ({
        ...draft,
        decision: { rule: 'command', action: 'none', supervisor: 'root', attempt: 0, by },
      }),
      router,
      threads,
      journal: new PlayedJournal(),
      report: () => {},
      intentOf: () => this.intent,
      shuttingDown: () => false,
      prepare: async () => prepared,
      decide: () => ({ rule: 'command', action: 'none', supervisor: 'root', attempt: 0 }),
      onPhase: () => {},
      onChange: () => {},
      onDeath: () => {},
      onDeadLetter: () => {},
      onOutput: () => {},
      hide: (record) => record,
    } satisfies AgentDeps)
  }

  async start(): Promise<PlayedWorker> {
    expect(await this.agent.start(false)).toBeNull()
    return workers.at(-1)!
  }

  /** Resolves once so many asks have come to the router. */
  async asks(count: number): Promise<void> {
    while (this.asked.length < count) {
      await new Promise<void>((resolve) => {
        this.#onAsked = resolve
      })
    }
  }
}

/** The thread asks agent `b`, under the first number it has. */
const askOther = (worker: PlayedWorker, name: string, due: number): void =>
  worker.post({ type: 'flush', sends: { count: 1, to: 'b', names: name, ids: [1], due: [due], text: '[0]' } })

afterEach(() => {
  for (const worker of workers.splice(0)) worker.exit(0)
  played.roles = []
})

describe('an answer to what an instance asked', () => {
  it('never reaches its successor, which counts its own asks from one again', async () => {
    const tested = new TestedAgent()
    const first = await tested.start()
    askOther(first, 'asked by the first', tested.clock.now() + 1000)
    await tested.asks(1)
    first.exit(1)
    const second = await tested.start()
    askOther(second, 'asked by the second', tested.clock.now() + 1000)
    await tested.asks(2)
    tested.asked[0]!.answer('for the first')
    tested.asked[1]!.answer('for the second')
    // In order: a wrong one would have come before it.
    expect((await second.next()) as Answers).toMatchObject({ ids: [1], text: '["for the second"]' })
  })
})

describe('how much an agent has completed', () => {
  it('does not count what a dead instance did twice while the next one boots', async () => {
    const tested = new TestedAgent()
    const worker = await tested.start()
    const { recorder } = tested.agent.instance!
    tested.agent.inbox.tell('e', 1)
    tested.agent.inbox.pump.flush()
    for (const cell of [0, 1]) recorder.write(cell, 1)
    expect(tasksOf(tested.agent).completed).toBe(1)
    worker.exit(1)
    expect(tasksOf(tested.agent).completed).toBe(1)
    const starting = tested.agent.start(false)
    expect([tested.agent.phase, tasksOf(tested.agent).completed]).toEqual(['BOOTING', 1])
    await starting
    expect([tested.agent.phase, tasksOf(tested.agent).completed]).toEqual(['ACTIVE', 1])
  })
})

describe('asks that waited at a stop', () => {
  it('are refused, and not run by a later instance', async () => {
    const tested = new TestedAgent()
    await tested.start()
    const pausing = tested.agent.pause(1000, false)
    const refused = expect(tested.agent.inbox.ask('find', 1)).rejects.toMatchObject({ code: 'NotAccepting' })
    tested.agent.inbox.tell('event', 1)
    await tested.agent.end({
      cause: 'shutdown',
      graceMs: 0,
      abort: false,
      handOver: false,
      told: { rule: 'command', by: 'test' },
    })
    await pausing
    await refused
    const second = await tested.start()
    // A hole is where it was.
    expect(await second.next()).toMatchObject({ names: ['find', 'event'], skip: [0], text: '[0,1]' })
  })
})

describe('the event boot', () => {
  const withBoot: RoleInfo[] = [{ name: 'r', events: ['boot'], commands: [], needs: [] }]

  it('of an instance that was paused all its life is not delivered to one that has no handler for it', async () => {
    const tested = new TestedAgent()
    played.roles = withBoot
    tested.intent = { ...intent, admission: 'cordoned' }
    const first = await tested.start()
    expect(tested.agent.phase).toBe('PAUSED')
    tested.agent.inbox.tell('event', 1)
    first.exit(1)
    played.roles = []
    tested.intent = intent
    const second = await tested.start()
    expect(await second.next()).toMatchObject({ count: 1, names: 'event' })
  })
})
