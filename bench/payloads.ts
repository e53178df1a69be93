/**
 * Events that carry more than a few fields, into one isolated agent: texts of 1 KiB, byte arrays of 16 KiB and 256 KiB,
 * copied and moved. Beside the bare platform with the same arrays of events a message.
 */
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchAgent, withCounter } from './holt.ts'
import { expectHandled, perSecond } from './measure.ts'
import { type RawEvent, replyTo, startRawWorker } from './peers/raw.ts'

interface Load {
  readonly key: string
  readonly label: string
  readonly count: number
  /** Of the bare platform: events a message. */
  readonly batch: number
  readonly moved: boolean
  make(n: number): unknown
}

const text = 'x'.repeat(1024)
const KIB = 1024

const bytes = (kib: number, moved: boolean, count: number, batch: number): Load => ({
  key: `kib${kib}${moved ? 'moved' : 'copied'}`,
  label: `${kib} KiB bytes ${moved ? 'moved' : 'copied'}/s`,
  count,
  batch,
  moved,
  make: () => new Uint8Array(kib * KIB),
})

const LOADS: readonly Load[] = [
  {
    key: 'kib1',
    label: '1 KiB text/s',
    count: 40_000,
    batch: 64,
    moved: false,
    // A text of its own each time, as it comes off a wire.
    make: (n) => ({ n, text: `${n}${text}`.slice(0, KIB) }),
  },
  bytes(16, false, 8_000, 64),
  bytes(16, true, 20_000, 64),
  bytes(256, false, 1_000, 8),
  bytes(256, true, 2_000, 8),
]

async function each(effort: Effort, send: (load: Load, count: number) => unknown, total: () => Promise<unknown>) {
  const figures: Record<string, number> = {}
  let sent = 0
  for (const load of LOADS) {
    const run = async (count: number): Promise<void> => {
      await send(load, count)
      sent += count
      expectHandled(await total(), sent)
    }
    figures[load.key] = await perSecond(load.count, effort, run)
  }
  return figures as Figures
}

const bare: Variant = async (effort) => {
  const worker = await startRawWorker('raw-array')
  const send = ({ make, batch, moved }: Load, count: number): void => {
    for (let n = 0; n < count; ) {
      const events: RawEvent[] = []
      const transfer: ArrayBuffer[] = []
      for (; events.length < batch && n < count; n++) {
        const payload = make(n)
        events.push({ name: 'add', payload })
        if (moved) transfer.push((payload as Uint8Array<ArrayBuffer>).buffer)
      }
      worker.postMessage(events, transfer)
    }
  }
  return each(effort, send, () => replyTo(worker, [{ name: 'total' }]))
}

async function tellAll(counter: BenchAgent, { make, moved }: Load, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const payload = make(n)
    const options = moved ? { transfer: [(payload as Uint8Array<ArrayBuffer>).buffer] } : undefined
    if (!counter.hasRoom) await counter.room()
    if (!counter.tell('add', payload, options)) throw new Error(`tell was refused at ${n}, with room`)
  }
}

const holt: Variant = (effort) =>
  withCounter((counter) =>
    each(
      effort,
      (load, count) => tellAll(counter, load, count),
      () => counter.ask('total'),
    ),
  )

export const payloads: Bench = {
  name: 'payloads',
  summary: 'events of 1 KiB to 256 KiB into one isolated agent, copied and moved',
  metrics: LOADS.map(({ key, label }) => ({ key, label, ratio: true })),
  base: 'postMessage arrays',
  variants: { 'postMessage arrays': bare, 'Holt tell': holt },
  targets: [{ variant: 'Holt tell', against: 'postMessage arrays', metric: 'kib16moved', atLeast: 0.9 }],
  packages: [],
  leavesOut: { 'postMessage arrays': 'bounds, back-pressure, accounting, supervision' },
}
