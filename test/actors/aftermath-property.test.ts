/**
 * Whatever happens, every message ends exactly once: lives of an agent at random, against a model that knows a message
 * only by what was promised for it.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { MortalInbox } from './mortal-inbox.ts'
import type { Taken } from './played-thread.ts'

const KINDS = ['tell', 'emit', 'ask', 'moved'] as const
type Kind = (typeof KINDS)[number]

interface Message {
  readonly n: number
  readonly kind: Kind
  /** It was sent while there was no instance. */
  readonly away: boolean
  deliveries: number
  solo: boolean
  /** What was promised to come of it; null while nothing is. */
  expected: string | null
  /** What came of it, as its sender was told. */
  readonly told: string[]
  readonly abort: AbortController
}

/** What a sender is told, as one word. */
const word = (settled: unknown): string => {
  if (settled instanceof Error) {
    const { code, details } = settled as Error & { code?: string; details?: { handled?: boolean } }
    return code === 'AgentDied' ? `died handled=${details?.handled}` : (code ?? settled.name)
  }
  return typeof settled === 'string' ? 'reply' : (settled as { fate: string }).fate
}

interface Life {
  readonly kinds: readonly Kind[]
  /** 0 to 4: begin; 5 to 7: end; 8: flush; 9: a caller gives up. */
  readonly steps: readonly number[]
  readonly away: readonly Kind[]
  readonly told: boolean
  readonly boot: boolean
}

class Story {
  readonly tested: MortalInbox
  readonly redeliver: number
  readonly messages: Message[] = []
  /** In the order in which they are to be delivered. */
  waiting: Message[] = []
  open: { readonly message: Message; readonly seq: number }[] = []
  unflushed: { readonly message: Message; readonly seq: number }[] = []

  constructor(concurrency: number, redeliver: number, window: number) {
    this.redeliver = redeliver
    this.tested = new MortalInbox({ concurrency, redeliver, window })
  }

  /** @param away an emit is told that it is queued, and no more */
  send(kind: Kind, away = false): void {
    const n = this.messages.length + 1
    const abort = new AbortController()
    const message: Message = { n, kind, away, deliveries: 0, solo: false, expected: null, told: [], abort }
    this.messages.push(message)
    this.waiting.push(message)
    const { inbox } = this.tested
    const name = `m${n}`
    const note = (settled: unknown): void => void message.told.push(word(settled))
    if (kind === 'tell') inbox.tell(name, n)
    if (kind === 'emit') void inbox.emit(name, n).then(note, note)
    if (kind === 'ask') void inbox.ask(name, n, { signal: abort.signal }).then(note, note)
    if (kind === 'moved') {
      const buffer = new ArrayBuffer(1)
      void inbox.emit(name, { n, buffer }, { transfer: [buffer] }).then(note, note)
    }
  }

  /** Begins the next where a slot is free, as a thread does: one that is to run alone, alone. */
  begin(): void {
    const { thread, inbox } = this.tested
    inbox.pump.flush()
    const next = thread.taken[thread.begun]
    const soloRuns = this.open.some(({ message }) => message.solo)
    if (next === undefined || this.open.length >= inbox.options.concurrency || soloRuns) return
    if (next.solo && this.open.length > 0) return
    thread.begin()
    if (next.skip || next.name === 'boot') return thread.end(next.seq)
    const message = this.#take(next)
    if (message.kind === 'ask' && message.abort.signal.aborted) return thread.end(next.seq)
    this.open.push({ message, seq: next.seq })
  }

  #take({ payload, solo }: Taken): Message {
    const n = typeof payload === 'number' ? payload : (payload as { n: number }).n
    const [message] = this.waiting.splice(0, 1)
    if (message?.n !== n) throw new Error(`expected ${message?.n} next, found ${n}`)
    if (message.solo !== solo) throw new Error(`expected ${n} ${message.solo ? '' : 'not '}to run alone`)
    return message
  }

  end(which: number): void {
    const [ended] = this.open.splice(which % Math.max(1, this.open.length), 1)
    if (ended === undefined) return
    this.tested.thread.end(ended.seq)
    this.unflushed.push(ended)
  }

  /** Replies and fates of what was done leave the thread. */
  flush(): void {
    const of = (kinds: readonly Kind[]): number[] =>
      this.unflushed.filter(({ message }) => kinds.includes(message.kind)).map(({ seq }) => seq)
    this.tested.flushHandled(of(['emit', 'moved']))
    this.tested.flushReplies(of(['ask']))
    for (const { message } of this.unflushed) message.expected ??= message.kind === 'ask' ? 'reply' : 'handled'
    this.unflushed = []
  }

  /** The caller of an ask gives up. */
  giveUp(which: number): void {
    const asks = this.messages.filter(({ kind, expected }) => kind === 'ask' && expected === null)
    const ask = asks[which % Math.max(1, asks.length)]
    if (ask === undefined) return
    ask.expected = 'Aborted'
    ask.abort.abort()
    // One that waits on this side is withdrawn; a thread that has it skips it.
    const { thread } = this.tested
    if (!thread.taken.some(({ payload }) => payload === ask.n)) this.waiting = this.waiting.filter((m) => m !== ask)
  }

  die(told: boolean): void {
    const { thread } = this.tested
    const handed = new Set(thread.taken.slice(thread.begun).map(({ payload }) => numberOf(payload)))
    for (const { message } of this.unflushed) {
      message.expected ??= message.kind === 'ask' ? 'died handled=true' : 'handled'
    }
    const inFlight = this.open.map(({ message }) => message).sort((a, b) => a.n - b.n)
    const again = inFlight.filter((message) => !this.#endInFlight(message, told, inFlight.length === 1))
    for (const message of again) message.solo ||= inFlight.length > 1
    for (const message of this.waiting) {
      if (message.kind === 'moved' && handed.has(message.n)) message.expected = 'dropped'
    }
    this.waiting = [...again, ...this.waiting.filter(({ expected }) => expected === null)]
    this.open = []
    this.unflushed = []
    this.tested.die({ aborted: told })
  }

  /** The promise for a message that was in flight. False: it is to be delivered again. */
  #endInFlight(message: Message, told: boolean, lone: boolean): boolean {
    message.deliveries++
    const { redeliver } = this
    if (message.kind === 'ask') message.expected ??= 'died handled=false'
    else if (told) message.expected = 'aborted'
    else if (redeliver === 0 || message.kind === 'moved') message.expected = 'crashed'
    else if (message.deliveries > redeliver && lone) message.expected = 'quarantined'
    return message.expected !== null
  }

  /** No more deaths: all that waits is handled. */
  finish(): void {
    this.tested.activate()
    for (let before = -1; before !== this.tested.thread.begun; ) {
      before = this.tested.thread.begun
      this.begin()
      while (this.open.length > 0) this.end(0)
    }
    this.flush()
  }

  /** What was told against what was promised; the dead letters tell of the rest, once each. */
  check(): void {
    const { inbox, deadLetters } = this.tested
    const letters = deadLetters.list().filter(({ name }) => name !== 'boot')
    const buried = new Map(letters.map(({ name, reason }) => [name, reason]))
    expect([buried.size, new Set(letters.map(({ id }) => id)).size]).toEqual([letters.length, letters.length])
    for (const { n, kind, expected, told, away } of this.messages) {
      expect(expected, `message ${n} has no end`).not.toBeNull()
      const answer = away && kind !== 'ask' ? 'queued' : expected
      if (kind !== 'tell') expect(told, `message ${n} (${kind})`).toEqual([answer])
      const lost = kind !== 'ask' && expected !== 'handled' ? (expected === 'dropped' ? 'transferred' : expected) : null
      expect(buried.get(`m${n}`) ?? null, `dead letter of message ${n}`).toBe(lost)
    }
    expect([inbox.mailbox.depth, inbox.asks.size]).toEqual([0, 0])
  }
}

const numberOf = (payload: unknown): number =>
  typeof payload === 'number' ? payload : ((payload as { n?: number } | undefined)?.n ?? 0)

const kinds = fc.array(fc.constantFrom(...KINDS), { maxLength: 6, size: 'max' })
const life: fc.Arbitrary<Life> = fc.record({
  kinds,
  steps: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 16, size: 'max' }),
  away: kinds,
  told: fc.boolean(),
  boot: fc.boolean(),
})

/** Plays these lives one after the other, then one in which all ends well. */
async function play(concurrency: number, redeliver: number, window: number, lives: readonly Life[]): Promise<void> {
  const story = new Story(concurrency, redeliver, window)
  for (const { kinds: sent, steps, away, told, boot } of lives) {
    if (boot) story.tested.inbox.first('boot')
    story.tested.activate()
    for (const kind of sent) story.send(kind)
    for (const [at, step] of steps.entries()) {
      if (step < 5) story.begin()
      else if (step < 8) story.end(at)
      else if (step === 8) story.flush()
      else story.giveUp(at)
    }
    story.die(told)
    for (const kind of away) story.send(kind, true)
    await nextTurn()
  }
  story.finish()
  await nextTurn()
  story.check()
}

describe('every message ends exactly once', () => {
  it('over any lives, at any concurrency, with any number of redeliveries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 2 }),
        fc.constantFrom(4, 16, 4096),
        fc.array(life, { maxLength: 5 }),
        play,
      ),
      { numRuns: 300 },
    )
  }, 120_000)
})
