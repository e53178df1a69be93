/**
 * The mailbox's queue by itself, in one thread: pairs of push and shift at a standing depth of 128, and filling and
 * draining 256. Every item carries what a mailbox keeps of a message (name, body, meta, time); peers that hold one
 * value an item hold them in an object, made at the push. Each item is read when it is taken, and must be the next.
 */
import Denque from 'denque'
import createFastq from 'fastq'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { importBuilt } from './holt.ts'
import { expectHandled, perSecond } from './measure.ts'

const DEPTH = 128
const FILL = 256
const COUNT = 2 ** 21
/** A head index moves the rest of the array to its start after so many shifts. */
const COMPACT_AFTER = 1024
const NAME = 'add'
const BODY = '{"n":1,"text":"hello"}'

interface Item {
  readonly name: string
  readonly body: string
  readonly meta: undefined
  readonly at: number
}

interface QueueUnderTest {
  push(at: number): unknown
  /** Takes the oldest item; returns its time, or undefined when there is none or it is not what was pushed. */
  shift(): number | undefined
}

const itemOf = (at: number): Item => ({ name: NAME, body: BODY, meta: undefined, at })

const read = (item: Item | undefined): number | undefined =>
  item !== undefined && item.name === NAME && item.body === BODY && item.meta === undefined ? item.at : undefined

function arrayShift(): QueueUnderTest {
  const items: Item[] = []
  return { push: (at) => items.push(itemOf(at)), shift: () => read(items.shift()) }
}

function arrayHeadIndex(): QueueUnderTest {
  let items: (Item | undefined)[] = []
  let head = 0
  const shift = (): number | undefined => {
    if (head === items.length) return undefined
    const item = items[head]
    items[head++] = undefined
    if (head === items.length || head === COMPACT_AFTER) {
      items = items.slice(head)
      head = 0
    }
    return read(item)
  }
  return { push: (at) => items.push(itemOf(at)), shift }
}

function denque(): QueueUnderTest {
  const items = new Denque<Item>()
  return { push: (at) => items.push(itemOf(at)), shift: () => read(items.shift()) }
}

/** A work queue, not a list: the worker of the oldest item runs at once, and its callback lets the next one in. */
function fastq(): QueueUnderTest {
  let current: Item | undefined
  let finish: ((error: null) => void) | undefined
  const nothing = (): void => {}
  const work = createFastq<unknown, Item>((item, done) => {
    current = item
    finish = done
  }, 1)
  const shift = (): number | undefined => {
    const item = current
    const done = finish
    current = undefined
    finish = undefined
    done?.(null)
    return read(item)
  }
  return { push: (at) => work.push(itemOf(at), nothing), shift }
}

/** What the benches use of the class in src/actors/mailbox.ts, as the pump uses it: read by field, then settle. */
interface MailboxUnderTest {
  readonly head: number
  readonly depth: number
  push(name: string, body: string, meta: undefined, now: number): number
  nameAt(position: number): string
  bodyAt(position: number): unknown
  metaAt(position: number): unknown
  timeAt(position: number): number
  settleTo(position: number): void
}

function holtMailbox(mailbox: MailboxUnderTest): QueueUnderTest {
  const shift = (): number | undefined => {
    if (mailbox.depth === 0) return undefined
    const { head } = mailbox
    const intact = mailbox.nameAt(head) === NAME && mailbox.bodyAt(head) === BODY && mailbox.metaAt(head) === undefined
    const at = mailbox.timeAt(head)
    mailbox.settleTo(head + 1)
    return intact ? at : undefined
  }
  return { push: (at) => mailbox.push(NAME, BODY, undefined, at), shift }
}

/** A time as a clock gives it: not a whole number. */
const timeOf = (n: number): number => n + 0.5

/** @throws Error when an item is missing or out of order */
function take(queue: QueueUnderTest, n: number): void {
  const at = queue.shift()
  if (at !== timeOf(n)) expectHandled(at, timeOf(n))
}

async function measure(create: () => QueueUnderTest, effort: Effort): Promise<Figures> {
  const pairs = (count: number): void => {
    const queue = create()
    for (let n = 0; n < DEPTH; n++) queue.push(timeOf(n))
    for (let n = 0; n < count; n++) {
      queue.push(timeOf(n + DEPTH))
      take(queue, n)
    }
  }
  const fills = (count: number): void => {
    const queue = create()
    for (let done = 0; done < count; done += FILL) {
      for (let n = done; n < done + FILL; n++) queue.push(timeOf(n))
      for (let n = done; n < done + FILL; n++) take(queue, n)
    }
  }
  return { pairs: await perSecond(COUNT, effort, pairs), fills: await perSecond(COUNT, effort, fills) }
}

const variant =
  (create: () => QueueUnderTest): Variant =>
  (effort) =>
    measure(create, effort)

const holt: Variant = async (effort) => {
  const { Mailbox } = await importBuilt<{ Mailbox: new () => MailboxUnderTest }>('actors/mailbox.js')
  return measure(() => holtMailbox(new Mailbox()), effort)
}

export const queue: Bench = {
  name: 'queue',
  summary: "the mailbox's queue by itself, in one thread",
  metrics: [
    { key: 'pairs', label: 'push and shift pairs/s at depth 128', ratio: true },
    { key: 'fills', label: 'items/s, fill and drain 256', ratio: true },
  ],
  base: 'denque',
  variants: {
    denque: variant(denque),
    fastq: variant(fastq),
    'array, push and shift': variant(arrayShift),
    'array, head index': variant(arrayHeadIndex),
    'Holt mailbox': holt,
  },
  targets: ['pairs', 'fills'].map((metric) => ({ variant: 'Holt mailbox', against: 'denque', metric, atLeast: 0.95 })),
  packages: ['denque', 'fastq'],
}
