/**
 * Events a second into one isolated agent: a small event, an async handler that counts; one producer, and eight that
 * await after each event. Every variant ends its time with the count of what was handled, read from the thread after the
 * last event. What carries more is in payloads.ts.
 */
import type { Bench, Variant } from './definition.ts'
import { withCounter } from './holt.ts'
import { expectHandled, lanes, perSecond } from './measure.ts'
import { startComlink } from './peers/comlink.ts'
import { startPiscina } from './peers/piscina.ts'
import { type RawEvent, replyTo, startRawWorker } from './peers/raw.ts'

/** Counts that take each variant some tenths of a second. */
const FAST = 300_000
const SLOW = 30_000
const ARRAY_LENGTH = 256
const PISCINA_TASKS_PER_WORKER = 256
const PRODUCERS = 8

const payloadOf = (n: number): { n: number; text: string } => ({ n, text: 'hello' })
const eventOf = (n: number): RawEvent => ({ name: 'add', payload: payloadOf(n) })

/** Times `send` of `count` events until `total` says that all of them were handled. */
async function rate(
  count: number,
  effort: Parameters<Variant>[0],
  send: (count: number) => unknown,
  total: () => Promise<unknown>,
): Promise<{ perSecond: number }> {
  let sent = 0
  const run = async (batch: number): Promise<void> => {
    await send(batch)
    sent += batch
    expectHandled(await total(), sent)
  }
  return { perSecond: await perSecond(count, effort, run) }
}

const postMessageEach: Variant = async (effort) => {
  const worker = await startRawWorker('raw-each')
  const send = (count: number): void => {
    for (let n = 0; n < count; n++) worker.postMessage(eventOf(n))
  }
  return rate(FAST, effort, send, () => replyTo(worker, { name: 'total' }))
}

const postMessageArrays: Variant = async (effort) => {
  const worker = await startRawWorker('raw-array')
  const send = (count: number): void => {
    let events: RawEvent[] = []
    for (let n = 0; n < count; n++) {
      events.push(eventOf(n))
      if (events.length < ARRAY_LENGTH) continue
      worker.postMessage(events)
      events = []
    }
    worker.postMessage(events)
  }
  return rate(FAST, effort, send, () => replyTo(worker, [{ name: 'total' }]))
}

const comlink: Variant = async (effort) => {
  const peer = await startComlink()
  const send = (count: number): Promise<void> => lanes(count, (n) => peer.add(payloadOf(n)))
  return rate(SLOW, effort, send, () => peer.total())
}

const piscina: Variant = async (effort) => {
  const pool = startPiscina('sync', PISCINA_TASKS_PER_WORKER)
  const send = (count: number): Promise<void> => lanes(count, (n) => pool.run(payloadOf(n), { name: 'add' }))
  return rate(SLOW, effort, send, () => pool.run(undefined, { name: 'count' }))
}

const holtTell: Variant = (effort) =>
  withCounter((counter) => {
    const send = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        if (!counter.hasRoom) await counter.room()
        if (!counter.tell('add', payloadOf(n))) throw new Error(`tell was refused at ${n}, with room`)
      }
    }
    return rate(FAST, effort, send, () => counter.ask('total'))
  })

/** Each sends in its turn and lets the others send: their events come in one by one, none of them in a loop of its own. */
const holtProducers: Variant = (effort) =>
  withCounter((counter) => {
    const send = (count: number): Promise<void> =>
      lanes(
        count,
        async (n) => {
          while (!counter.hasRoom) await counter.room()
          if (!counter.tell('add', payloadOf(n))) throw new Error(`tell was refused at ${n}, with room`)
        },
        PRODUCERS,
      )
    return rate(FAST, effort, send, () => counter.ask('total'))
  })

const holtEmit: Variant = (effort) =>
  withCounter((counter) => {
    const send = (count: number): Promise<void> => lanes(count, (n) => counter.emit('add', payloadOf(n)))
    return rate(FAST, effort, send, () => counter.ask('total'))
  })

const metric = 'perSecond'

export const tell: Bench = {
  name: 'tell',
  summary: 'events per second into one isolated agent',
  metrics: [{ key: metric, label: 'events/s', ratio: true }],
  base: 'postMessage each',
  variants: {
    'postMessage each': postMessageEach,
    'postMessage arrays of 256': postMessageArrays,
    'Comlink, 256 in flight': comlink,
    'Piscina, 256 in flight': piscina,
    'Holt tell': holtTell,
    'Holt tell, 8 producers': holtProducers,
    'Holt emit, 256 in flight': holtEmit,
  },
  targets: [
    { variant: 'Holt tell', against: 'postMessage arrays of 256', metric, atLeast: 1.4 },
    { variant: 'Holt tell', against: 'postMessage each', metric, atLeast: 5 },
    { variant: 'Holt tell', against: 'Comlink, 256 in flight', metric, atLeast: 38 },
    { variant: 'Holt tell', against: 'Piscina, 256 in flight', metric, atLeast: 30 },
    { variant: 'Holt tell, 8 producers', against: 'Holt tell', metric, atLeast: 0.8 },
  ],
  packages: ['comlink', 'piscina'],
  leavesOut: {
    'postMessage each': 'bounds, back-pressure, accounting, supervision',
    'postMessage arrays of 256': 'bounds, back-pressure, accounting, supervision',
    'Comlink, 256 in flight': 'one-way sends, bounds, time-outs, supervision; a call hangs when its thread dies',
    'Piscina, 256 in flight': 'one-way sends, order between tasks, identity of a thread',
  },
}
