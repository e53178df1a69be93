/**
 * Random writes to a store, and what must hold of it at any moment later. The one who writes says each answer; whoever
 * checks has those lines alone.
 */
import type { Store } from '../../src/store/store.ts'
import { message } from './samples.ts'
import { body } from './temp-store.ts'

/** What was answered. */
export type Answer =
  | { readonly kind: 'intent'; readonly agent: string; readonly generation: number; readonly intent: string }
  | { readonly kind: 'epoch'; readonly agent: string; readonly epoch: number }
  | { readonly kind: 'accepted' | 'settled'; readonly agent: string; readonly id: string }
  | { readonly kind: 'memory'; readonly agent: string; readonly key: string; readonly value: number }
  | { readonly kind: 'pair'; readonly n: number }

const AGENTS = ['a', 'b', 'c']

/** Numbers below one, the same for the same seed (mulberry32). */
export function randomBySeed(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Writes in bursts for ever, each as soon as the one before it was answered. */
export function writeAtRandom(store: Store, seed: number, say: (answer: Answer) => void): void {
  const random = randomBySeed(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  let n = 0
  const waiting = new Map(AGENTS.map((agent) => [agent, store.mailboxes.load(agent).map(({ id }) => id)]))
  const one = async (): Promise<void> => {
    const agent = pick(AGENTS)
    const number = seed * 1_000_000 + ++n
    const id = `m-${number}`
    const what = random()
    if (what < 0.15) {
      const intent = pick(['running', 'suspended', 'stopped'] as const)
      const record = await store.intents.commit(agent, { intent, by: id, reason: null, at: 1 })
      say({ kind: 'intent', agent, generation: record.generation, intent })
    } else if (what < 0.3) {
      say({ kind: 'epoch', agent, epoch: await store.epochs.next(agent) })
    } else if (what < 0.6) {
      await store.write((tx) => tx.mailboxes.append(agent, message(id)))
      waiting.get(agent)!.push(id)
      say({ kind: 'accepted', agent, id })
    } else if (what < 0.75) {
      const done = waiting.get(agent)!.shift()
      if (done === undefined) return
      await store.write((tx) => tx.mailboxes.settle(agent, [done], 1))
      say({ kind: 'settled', agent, id: done })
    } else if (what < 0.9) {
      const key = pick(['x', 'y'])
      await store.write((tx) => tx.memory.set(agent, key, body(number), 1))
      say({ kind: 'memory', agent, key, value: number })
    } else {
      // Two tables in one unit: a checker must find both or neither.
      await store.write((tx) => {
        tx.counters.add('pair', { left: 1 })
        tx.sessions.append('pair', 's', body(number), 1)
      })
      say({ kind: 'pair', n: number })
    }
  }
  const burst = async (): Promise<void> => {
    for (;;) await Promise.all(Array.from({ length: 1 + Math.floor(random() * 20) }, one))
  }
  void burst()
}

/** What the answers of all lives so far promise and what is there now does not keep. */
export function findBroken(store: Store, answers: readonly Answer[]): string[] {
  const broken: string[] = []
  const hold = (holds: boolean, what: string): void => void (holds || broken.push(what))
  const of = <K extends Answer['kind']>(kind: K) =>
    answers.filter((answer): answer is Extract<Answer, { readonly kind: K }> => answer.kind === kind)
  for (const agent of AGENTS) {
    const last = of('intent').findLast((one) => one.agent === agent)
    const record = store.intents.read(agent)
    if (last !== undefined) {
      const { generation = 0, intent } = record ?? {}
      hold(generation >= last.generation, `${agent}: generation ${generation}, answered ${last.generation}`)
      hold(
        generation !== last.generation || intent === last.intent,
        `${agent}: intent ${intent}, answered ${last.intent}`,
      )
    }
    const epochs = of('epoch').filter((one) => one.agent === agent)
    hold(
      epochs.every(({ epoch }, at) => epoch > (epochs[at - 1]?.epoch ?? 0)),
      `${agent}: an epoch was given twice`,
    )
    const lastEpoch = epochs.at(-1)?.epoch ?? 0
    hold(
      store.epochs.current(agent) >= lastEpoch,
      `${agent}: epoch ${store.epochs.current(agent)}, answered ${lastEpoch}`,
    )
    broken.push(...findLost(store, agent, of('accepted'), of('settled')))
    for (const key of ['x', 'y']) {
      const answered = of('memory').findLast((one) => one.agent === agent && one.key === key)?.value ?? 0
      const found = Number(store.memory.get(agent, key)?.value.body ?? 0)
      hold(found >= answered, `${agent}: memory ${key} is ${found}, answered ${answered}`)
    }
  }
  const pairs = store.counters.read('pair')['left'] ?? 0
  const entries = store.sessions.page('pair', 's', { limit: 1_000_000 }).length
  hold(pairs === entries, `half of a unit: ${pairs} counted, ${entries} entries`)
  hold(pairs >= of('pair').length, `${pairs} pairs, answered ${of('pair').length}`)
  return broken
}

interface OfMessage {
  readonly agent: string
  readonly id: string
}

/** Messages that were accepted and are not known, that were settled and wait, or that wait in another order. */
function findLost(
  store: Store,
  agent: string,
  accepted: readonly OfMessage[],
  settled: readonly OfMessage[],
): string[] {
  const own = (messages: readonly OfMessage[]): string[] =>
    messages.filter((one) => one.agent === agent).map(({ id }) => id)
  const waiting = store.mailboxes.load(agent).map(({ id }) => id)
  const isWaiting = new Set(waiting)
  const expected = own(accepted).filter((id) => isWaiting.has(id))
  const isExpected = new Set(expected)
  const found = waiting.filter((id) => isExpected.has(id))
  return [
    ...own(accepted)
      .filter((id) => !store.mailboxes.seen(agent, id))
      .map((id) => `${agent}: ${id} was lost`),
    ...own(settled)
      .filter((id) => isWaiting.has(id))
      .map((id) => `${agent}: ${id} was settled and waits`),
    ...(found.join() === expected.join()
      ? []
      : [`${agent}: out of order: ${found.join()}, accepted ${expected.join()}`]),
  ]
}
