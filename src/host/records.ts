/**
 * What the host writes down as it happens: deaths at once, facts, dead letters and counters in batches. Nobody waits for
 * it; where the state cannot be written it is kept, within bounds, and tried again.
 */
import type { Agent } from '../actors/agent.ts'
import type { DeadMessage } from '../actors/dead-letters.ts'
import { tasksOf } from '../actors/snapshot.ts'
import type { DeathRecord } from '../model/death.ts'
import type { Fact } from '../model/fact.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { NewDeadLetter } from '../store/dead-letters.ts'
import type { Store } from '../store/store.ts'
import { storeBody } from '../store/stored-body.ts'
import type { Tables } from '../store/tables.ts'

/** From the first thing to be written to the write. */
const BATCH_MS = 100
/** How often counters are looked at. */
const COUNTERS_MS = 1000
/** Kept while they cannot be written; the oldest go first. */
const MAX_FACTS = 10_000
const MAX_DEATHS = 1000
/** Dead letters of one agent in one batch; a flood is told in full by its counts. */
const MAX_LETTERS = 256

interface NumberedLetter extends NewDeadLetter {
  readonly id: number
}

type Counts = Readonly<Record<string, number>>

export class Records {
  readonly #store: Store
  readonly #clock: Clock
  #facts: Fact[] = []
  /** By their numbers; those that are on their way to the disk too. */
  readonly #unwritten = new Map<number, Fact>()
  #deaths: DeathRecord[] = []
  readonly #letters = new Map<string, NumberedLetter[]>()
  #lastLetter: number
  /** What the store has of each agent's counters. */
  readonly #counted = new Map<string, Counts>()
  #timer: Timer | null = null
  readonly #ticks: Timer
  #closed = false

  constructor(store: Store, clock: Clock, agents: () => readonly Agent[]) {
    this.#store = store
    this.#clock = clock
    this.#lastLetter = store.deadLetters.lastId()
    this.#ticks = clock.every(COUNTERS_MS, () => this.#count(agents()))
  }

  fact(fact: Fact): void {
    this.#facts.push(fact)
    this.#unwritten.set(fact.seq, fact)
    this.#boundFacts()
    this.#schedule()
  }

  /** Facts after a number, those that are not on disk yet among them, in order; at most `limit`. */
  factsAfter(seq: number, limit: number): readonly Fact[] {
    const written = this.#store.facts.after(seq, limit)
    const upTo = written.length === limit ? written.at(-1)!.seq : Number.POSITIVE_INFINITY
    const known = new Map(written.map((fact) => [fact.seq, fact]))
    for (const fact of this.#unwritten.values()) if (fact.seq > seq && fact.seq <= upTo) known.set(fact.seq, fact)
    return [...known.values()].sort((a, b) => a.seq - b.seq).slice(0, limit)
  }

  /** With the end of its instance, in this turn's transaction. */
  death(record: DeathRecord): void {
    this.#deaths.push(record)
    if (this.#deaths.length > MAX_DEATHS) this.#deaths.shift()
    void this.#flush()
  }

  /** @returns its id, by which it can be sent again */
  deadLetter(agent: string, message: DeadMessage): number {
    const { reason, kind, name, body, from = null, deliveryCount, deathId = null, messageId = null, to } = message
    const letters = this.#letters.get(agent) ?? []
    this.#letters.set(agent, letters)
    const at = this.#clock.wall()
    const id = ++this.#lastLetter
    letters.push({
      id,
      agent: to ?? agent,
      at,
      reason,
      kind,
      name,
      payload: storeBody(body),
      from,
      deliveryCount,
      deathId,
      messageId,
    })
    if (letters.length > MAX_LETTERS) letters.shift()
    this.#schedule()
    return id
  }

  /** Takes over what the store has counted of an agent. */
  restore(agent: Agent): void {
    const counts = this.#store.counters.read(agent.id)
    this.#counted.set(agent.id, counts)
    const { counters } = agent.inbox.fates
    for (const key of Object.keys(counters) as (keyof typeof counters)[]) counters[key] += counts[key] ?? 0
  }

  forget(agent: string): void {
    this.#counted.delete(agent)
    this.#letters.delete(agent)
  }

  /** All that is known by now is on disk when this resolves, or cannot be written. */
  async close(agents: readonly Agent[]): Promise<void> {
    this.#ticks.cancel()
    this.#count(agents)
    await this.#flush()
    this.#closed = true
    this.#timer?.cancel()
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  #schedule(): void {
    if (this.#closed) return
    this.#timer ??= this.#clock.after(BATCH_MS, () => void this.#flush())
  }

  /** Resolves once what is known by now is on disk, or was refused. */
  flush(): Promise<void> {
    return this.#flush()
  }

  #boundFacts(): void {
    for (const { seq } of this.#facts.splice(0, this.#facts.length - MAX_FACTS)) this.#unwritten.delete(seq)
  }

  async #flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    const facts = this.#facts
    const deaths = this.#deaths
    const letters = [...this.#letters.values()].flat().sort((a, b) => a.id - b.id)
    this.#facts = []
    this.#deaths = []
    this.#letters.clear()
    try {
      await this.#store.write((tx) => this.#write(tx, facts, deaths, letters))
      for (const { seq } of facts) this.#unwritten.delete(seq)
    } catch {
      // The store has told why. Facts keep their order; the rest of a fault's time is in the log.
      this.#facts = [...facts, ...this.#facts]
      this.#boundFacts()
      this.#deaths = [...deaths, ...this.#deaths].slice(-MAX_DEATHS)
      this.#schedule()
    }
  }

  #write(tx: Tables, facts: readonly Fact[], deaths: readonly DeathRecord[], letters: readonly NumberedLetter[]): void {
    for (const record of deaths) {
      tx.deaths.add(record)
      tx.instances.ended(record.agent, record.instance)
    }
    for (const letter of letters) tx.deadLetters.add(letter, letter.id)
    tx.facts.append(facts)
  }

  #count(agents: readonly Agent[]): void {
    const changed = agents.flatMap((agent) => {
      const now: Counts = { ...agent.inbox.fates.counters, ...tasksOf(agent) }
      const before = this.#counted.get(agent.id) ?? {}
      const deltas = Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]))
      return Object.values(deltas).every((delta) => delta === 0) ? [] : [{ id: agent.id, now, deltas }]
    })
    if (changed.length === 0) return
    const write = this.#store.write((tx) => {
      for (const { id, deltas } of changed) tx.counters.add(id, deltas)
    })
    write.then(
      () => {
        for (const { id, now } of changed) this.#counted.set(id, now)
      },
      () => {},
    )
  }
}
