/** Random operations beside a plain model of what they mean, over closes and reopenings at random. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { message } from './samples.ts'
import { body, tempState, tempStore } from './temp-store.ts'

/** What one may ask of a store, and what comes between. */
type Operation =
  | { readonly op: 'intent'; readonly agent: string; readonly intent: 'running' | 'stopped'; readonly at: number }
  | { readonly op: 'epoch'; readonly agent: string }
  | { readonly op: 'removeAgent'; readonly agent: string }
  | { readonly op: 'append' | 'settle' | 'remove'; readonly agent: string; readonly id: string }
  | { readonly op: 'set'; readonly agent: string; readonly key: string; readonly n: number }
  | { readonly op: 'delete'; readonly agent: string; readonly key: string }
  | { readonly op: 'entry'; readonly agent: string; readonly n: number }
  | { readonly op: 'count'; readonly agent: string; readonly n: number }
  /** A unit that writes and then throws. */
  | { readonly op: 'failed'; readonly agent: string }
  | { readonly op: 'turn' }
  | { readonly op: 'reopen' }

type Written = Exclude<Operation, { readonly op: 'turn' } | { readonly op: 'reopen' } | { readonly op: 'epoch' }>
type Applied = Exclude<Written, { readonly op: 'failed' }>

const agent = fc.constantFrom('a', 'b')
const id = fc.constantFrom('m1', 'm2', 'm3', 'm4')
const key = fc.constantFrom('x', 'y', 'yy')
const n = fc.integer({ min: 1, max: 9 })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ op: fc.constant('intent' as const), agent, intent: fc.constantFrom('running', 'stopped'), at: n }),
  fc.record({ op: fc.constantFrom('epoch' as const, 'removeAgent' as const), agent }),
  fc.record({
    op: fc.constantFrom('append' as const, 'append' as const, 'settle' as const, 'remove' as const),
    agent,
    id,
  }),
  fc.record({ op: fc.constant('set' as const), agent, key, n }),
  fc.record({ op: fc.constant('delete' as const), agent, key }),
  fc.record({ op: fc.constantFrom('entry' as const, 'count' as const), agent, n }),
  fc.record({ op: fc.constant('failed' as const), agent }),
  fc.record({ op: fc.constantFrom('turn' as const, 'turn' as const, 'reopen' as const) }),
)

interface AgentModel {
  intent: string | undefined
  generation: number
  waiting: string[]
  done: Set<string>
  memory: Map<string, number>
  entries: number[]
  count: number
}

const fresh = (): AgentModel => ({
  intent: undefined,
  generation: 0,
  waiting: [],
  done: new Set(),
  memory: new Map(),
  entries: [],
  count: 0,
})

class Model {
  readonly agents = new Map([
    ['a', fresh()],
    ['b', fresh()],
  ])
  readonly epochs = new Map<string, number>()

  apply(one: Applied): void {
    const of = this.agents.get(one.agent)!
    if (one.op === 'intent') Object.assign(of, { intent: one.intent, generation: of.generation + 1 })
    else if (one.op === 'removeAgent') this.agents.set(one.agent, fresh())
    else if (one.op === 'append') {
      if (!of.waiting.includes(one.id) && !of.done.has(one.id)) of.waiting.push(one.id)
    } else if (one.op === 'settle' || one.op === 'remove') {
      of.waiting = of.waiting.filter((waiting) => waiting !== one.id)
      if (one.op === 'settle') of.done.add(one.id)
    } else if (one.op === 'set') of.memory.set(one.key, one.n)
    else if (one.op === 'delete') of.memory.delete(one.key)
    else if (one.op === 'entry') of.entries.push(one.n)
    else if (one.op === 'count') of.count += one.n
  }
}

function write(store: Store, one: Written): Promise<unknown> {
  if (one.op === 'intent')
    return store.intents.commit(one.agent, { intent: one.intent, by: 'me', reason: null, at: one.at })
  if (one.op === 'removeAgent') return store.removeAgent(one.agent)
  return store.write((tx) => {
    if (one.op === 'append') tx.mailboxes.append(one.agent, message(one.id))
    else if (one.op === 'settle') tx.mailboxes.settle(one.agent, [one.id], 1)
    else if (one.op === 'remove') tx.mailboxes.remove(one.agent, [one.id])
    else if (one.op === 'set') tx.memory.set(one.agent, one.key, body(one.n), 1)
    else if (one.op === 'delete') tx.memory.delete(one.agent, one.key)
    else if (one.op === 'entry') tx.sessions.append(one.agent, 's', body(one.n), 1)
    else if (one.op === 'count') tx.counters.add(one.agent, { n: one.n })
    else {
      tx.memory.set(one.agent, 'x', body(-1), 1)
      tx.mailboxes.append(one.agent, message('never'))
      throw new Error('failed')
    }
  })
}

function compare(store: Store, model: Model): void {
  for (const [name, of] of model.agents) {
    expect({
      intent: store.intents.read(name)?.intent,
      generation: store.intents.read(name)?.generation ?? 0,
      waiting: store.mailboxes.load(name).map((one) => one.id),
      done: ['m1', 'm2', 'm3', 'm4'].filter((one) => store.mailboxes.seen(name, one) && !of.waiting.includes(one)),
      memory: store.memory.list(name).map((entry) => [entry.key, Number(entry.value.body)]),
      entries: store.sessions.page(name, 's', { limit: 1000 }).map(({ value }) => Number(value.body)),
      count: store.counters.read(name)['n'] ?? 0,
    }).toEqual({ ...of, done: [...of.done].sort(), memory: [...of.memory].sort(([a], [b]) => (a < b ? -1 : 1)) })
  }
}

it('a store does what a plain model of it does, over turns and reopenings', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
      const dir = tempState()
      const model = new Model()
      let store = await tempStore({ dir })
      let pending: Promise<unknown>[] = []
      const turn = async (): Promise<void> => {
        await Promise.all(pending)
        pending = []
        compare(store, model)
      }
      for (const one of operations) {
        if (one.op === 'turn') await turn()
        else if (one.op === 'reopen') {
          const closed = store.close()
          await turn().catch((error) => {
            if (!String(error).includes('closed')) throw error
          })
          await closed
          store = await tempStore({ dir })
          compare(store, model)
        } else if (one.op === 'epoch') {
          const next = store.epochs.next(one.agent).then((epoch) => {
            expect(epoch).toBeGreaterThan(model.epochs.get(one.agent) ?? 0)
            model.epochs.set(one.agent, epoch)
          })
          pending.push(next)
        } else {
          pending.push(write(store, one).catch((error) => expect(error.message).toBe('failed')))
          if (one.op !== 'failed') model.apply(one)
        }
      }
      await turn()
      await store.close()
    }),
    { numRuns: Number(process.env['HOLT_STORE_RUNS'] ?? 40) },
  )
}, 120_000)
