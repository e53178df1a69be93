/**
 * The four roles joined without a host: messages go one at a time and in order, asks answer or reject, a handler that
 * throws ends its instance, and the next message meets a fresh one. Pause, back-off and deadlines are the host's
 * affair and are not here.
 */
import type { Context, Schema } from 'holt/role'
import { vi } from 'vitest'
import text from '../../../examples/librarian/capabilities/text.ts'
import type { Fate } from '../../../src/model/message.ts'

/** A role as the thread sees it: untyped, for payloads come over a wire. */
interface LooseRole {
  readonly events: Readonly<Record<string, (payload: unknown, ctx: Context) => unknown>>
  readonly commands: Readonly<
    Record<string, { readonly input?: Schema<unknown>; readonly handle: (input: unknown, ctx: Context) => unknown }>
  >
}

const ROLES = {
  walker: () => import('../../../examples/librarian/agents/walker/roles/walk.ts'),
  reader: () => import('../../../examples/librarian/agents/reader/roles/read.ts'),
  librarian: () => import('../../../examples/librarian/agents/librarian/roles/search.ts'),
  clerk: () => import('../../../examples/librarian/agents/clerk/roles/report.ts'),
}

export type AgentId = keyof typeof ROLES

/** Loads a role afresh, with none of the state an earlier load has. */
export async function incarnate(agent: AgentId): Promise<LooseRole> {
  vi.resetModules()
  return (await ROLES[agent]()).default as unknown as LooseRole
}

const nothing = (): void => {}

/** A context that does nothing but what is given. */
export function fakeContext(parts: Partial<Context> = {}): Context {
  return {
    agent: 'test',
    instance: 'test.1',
    epoch: 1,
    signal: new AbortController().signal,
    deadline: null,
    remainingMs: Number.POSITIVE_INFINITY,
    traceparent: undefined,
    log: { debug: nothing, info: nothing, warn: vi.fn(), error: vi.fn() },
    capability: (() => ({ terms: async (texts: string[]) => text.methods.terms(texts) })) as Context['capability'],
    tell: vi.fn(() => true),
    emit: vi.fn(async (): Promise<Fate> => ({ fate: 'handled' })),
    ask: vi.fn(async () => {
      throw new Error('nobody to ask')
    }) as Context['ask'],
    after: vi.fn(() => nothing),
    watch: vi.fn(async () => {}),
    unwatch: vi.fn(async () => {}),
    spawn: vi.fn(async () => {
      throw new Error('no supervisor to add to')
    }),
    memory: {} as Context['memory'],
    session: () => ({}) as ReturnType<Context['session']>,
    publish: vi.fn(async () => ({ bound: 0, accepted: 0 })),
    schedule: vi.fn(async () => {
      throw new Error('no clock to go by')
    }),
    unschedule: vi.fn(async () => false),
    stop: nothing,
    ...parts,
  }
}

interface Sent {
  readonly from: AgentId
  readonly to: string
  readonly name: string
  readonly payload: unknown
}

export class FleetByHand {
  readonly sent: Sent[] = []
  readonly deaths: { readonly agent: AgentId; readonly error: unknown }[] = []
  readonly #roles = new Map<AgentId, LooseRole>()
  readonly #tails = new Map<AgentId, Promise<unknown>>()
  readonly #timers: (() => void)[] = []
  #open = 0

  /** Starts an agent, or starts it again with nothing in memory. */
  async start(agent: AgentId): Promise<void> {
    this.#roles.set(agent, await incarnate(agent))
    void this.#event(agent, agent, 'boot', undefined)
  }

  ask<T>(agent: AgentId, name: string, payload?: unknown): Promise<T> {
    return this.#ask(agent, name, payload) as Promise<T>
  }

  tell(agent: AgentId, name: string, payload?: unknown): void {
    void this.#event(agent, agent, name, payload)
  }

  /** Runs until nothing is on its way; every timer fires at once, in order. */
  async settle(): Promise<void> {
    while (this.#open > 0 || this.#timers.length > 0) {
      this.#timers.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  named(name: string): unknown[] {
    return this.sent.filter((message) => message.name === name).map(({ payload }) => payload)
  }

  /** One message at a time per agent. */
  #enqueue<T>(agent: AgentId, run: (role: LooseRole) => Promise<T>): Promise<T> {
    this.#open += 1
    const turn = (this.#tails.get(agent) ?? Promise.resolve()).then(async () => {
      const role = this.#roles.get(agent)
      if (role === undefined) throw Object.assign(new Error(`${agent} is not up`), { code: 'NotAccepting' })
      return run(role)
    })
    const done = turn.finally(() => {
      this.#open -= 1
    })
    this.#tails.set(
      agent,
      done.catch(() => {}),
    )
    return done
  }

  async #event(from: AgentId, to: string, name: string, payload: unknown): Promise<Fate> {
    const agent = to as AgentId
    this.sent.push({ from, to, name, payload: structuredClone(payload) })
    if (!this.#roles.has(agent)) return { fate: 'ignored', reason: 'not_accepting' }
    return this.#enqueue(agent, async (role): Promise<Fate> => {
      const handler = role.events[name]
      if (handler === undefined) return { fate: 'ignored', reason: 'no_handler' }
      try {
        await handler(structuredClone(payload), this.#context(agent))
        return { fate: 'handled' }
      } catch (error) {
        await this.#die(agent, error)
        return { fate: 'crashed' }
      }
    })
  }

  #ask(agent: AgentId, name: string, payload: unknown): Promise<unknown> {
    return this.#enqueue(agent, async (role) => {
      const command = role.commands[name]
      if (command === undefined) throw Object.assign(new Error(`no command ${name}`), { code: 'NoSuchCommand' })
      const checked = await command.input?.['~standard'].validate(payload)
      if (checked?.issues !== undefined) throw Object.assign(new Error('invalid'), { code: 'InvalidInput' })
      try {
        return structuredClone(await command.handle(checked?.value, this.#context(agent)))
      } catch (error) {
        if (!(error instanceof Error && error.name === 'CommandError')) await this.#die(agent, error)
        throw error
      }
    })
  }

  async #die(agent: AgentId, error: unknown): Promise<void> {
    this.deaths.push({ agent, error })
    this.#roles.set(agent, await incarnate(agent))
  }

  #context(agent: AgentId): Context {
    return fakeContext({
      agent,
      tell: (to, name, payload) => {
        void this.#event(agent, to, name, payload)
        return true
      },
      emit: (to, name, payload) => this.#event(agent, to, name, payload),
      ask: ((to: AgentId, name: string, payload: unknown) => this.#ask(to, name, payload)) as Context['ask'],
      after: (_, name, payload) => {
        this.#timers.push(() => void this.#event(agent, agent, name, payload))
        return nothing
      },
    })
  }
}
