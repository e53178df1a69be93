/**
 * Agent to agent in two threads: one way (the receiver has handled all), and ping-pong, by `tell` with one ball and by
 * `ask` one after the other. Beside two bare workers that the main thread relays for, as Holt's host does, and two with
 * a port of their own, which the host sees nothing of.
 */
import { once } from 'node:events'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchHost, withHost } from './holt.ts'
import { expectHandled, perSecond } from './measure.ts'

const EVENTS = 60_000
const ROUNDS = 300
const ARRAY_LENGTH = 256
const ASK_TIMEOUT_MS = 60_000

/** One of the two, and how it is told what to do. */
interface Side {
  readonly worker: Worker
  readonly control: MessagePort
}

async function startSide(batch: number, data?: MessagePort): Promise<Side> {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(new URL('./peers/relay-worker.mjs', import.meta.url), {
    workerData: { control: port2, batch, ...(data === undefined ? {} : { data }) },
    transferList: data === undefined ? [port2] : [port2, data],
    execArgv: [],
  })
  await once(worker, 'online')
  return { worker, control: port1 }
}

async function startPair(batch: number, direct: boolean): Promise<readonly [Side, Side]> {
  const { port1, port2 } = new MessageChannel()
  const sender = await startSide(batch, direct ? port1 : undefined)
  const receiver = await startSide(batch, direct ? port2 : undefined)
  if (!direct) {
    sender.worker.on('message', (message) => receiver.worker.postMessage(message))
    receiver.worker.on('message', (message) => sender.worker.postMessage(message))
  }
  return [sender, receiver]
}

type Order = 'expect' | 'flood' | 'serve' | 'asks'

/** Gives an order and waits for the next word of `answering`. */
async function obeyed(side: Side, order: Order, count: number, answering = side): Promise<unknown> {
  const word = once(answering.control, 'message')
  side.control.postMessage([order, count])
  const [answer] = await word
  return answer
}

const bare =
  (batch: number, direct: boolean): Variant =>
  async (effort) => {
    const [sender, receiver] = await startPair(batch, direct)
    let sent = 0
    return threeWays(effort, {
      flood: async (count) => {
        sent += count
        await obeyed(receiver, 'expect', sent)
        expectHandled(await obeyed(sender, 'flood', count, receiver), sent)
      },
      balls: async (count) => expectHandled(await obeyed(sender, 'serve', count), count),
      asks: async (count) => expectHandled(await obeyed(sender, 'asks', count), count),
    })
  }

/** Each does so many and returns once all were handled. */
interface Ways {
  flood(count: number): Promise<void>
  balls(count: number): Promise<void>
  asks(count: number): Promise<void>
}

async function threeWays(effort: Effort, { flood, balls, asks }: Ways): Promise<Figures> {
  return {
    oneWay: await perSecond(EVENTS, effort, flood),
    balls: await perSecond(ROUNDS, effort, balls),
    asks: await perSecond(ROUNDS, effort, asks),
  }
}

interface RelayHost extends BenchHost {
  readonly output$: { subscribe(next: (line: { text: string; data?: unknown }) => void): { unsubscribe(): void } }
}

/** The number of the last ball, as the sender tells it in its log. */
function played({ output$ }: RelayHost): Promise<unknown> {
  return new Promise((resolve) => {
    const subscription = output$.subscribe(({ text, data }) => {
      if (text !== 'played') return
      subscription.unsubscribe()
      resolve(data)
    })
  })
}

const holt: Variant = (effort) =>
  withHost('relay', async (host: RelayHost) => {
    const [sender, receiver] = [host.agent('sender'), host.agent('receiver')]
    const options = { timeoutMs: ASK_TIMEOUT_MS }
    let sent = 0
    return threeWays(effort, {
      flood: async (count) => {
        sent += count
        await sender.ask('flood', count, options)
        expectHandled(await receiver.ask('total', undefined, options), sent)
      },
      balls: async (count) => {
        const last = played(host)
        sender.tell('serve', count)
        expectHandled(await last, count)
      },
      asks: async (count) => expectHandled(await sender.ask('asks', count, options), count),
    })
  })

const NO_ACCOUNTING = 'back-pressure, accounting, supervision'

export const relay: Bench = {
  name: 'relay',
  summary: 'agent to agent in two threads: one way and ping-pong',
  metrics: [
    { key: 'oneWay', label: 'events/s, one way', ratio: true },
    { key: 'balls', label: 'round trips/s, one ball by tell', ratio: true },
    { key: 'asks', label: 'round trips/s, one ask at a time', ratio: true },
  ],
  base: 'relayed by main, each',
  variants: {
    'relayed by main, each': bare(1, false),
    'relayed by main, arrays of 256': bare(ARRAY_LENGTH, false),
    'direct port, arrays of 256': bare(ARRAY_LENGTH, true),
    Holt: holt,
  },
  targets: [],
  packages: [],
  leavesOut: {
    'relayed by main, each': NO_ACCOUNTING,
    'relayed by main, arrays of 256': NO_ACCOUNTING,
    'direct port, arrays of 256': `${NO_ACCOUNTING}; the main thread knows of no message, so nobody could count them`,
  },
}
