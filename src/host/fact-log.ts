/**
 * Facts from a cursor on: what the log has, then what comes, with no gap and no double. Used by `host.facts`, and so by
 * whoever watches and comes back after a cut. What the log does not have any more is told by a `stream.gap`, first of all.
 */
import type { Observable } from 'rxjs'
import { type Fact, type FactKind, makeFact } from '../model/fact.ts'
import type { Clock } from '../platform/clock.ts'
import type { Schedule } from '../streams/bus.ts'
import { resume } from '../streams/resume.ts'
import { where } from '../streams/where.ts'

export interface FactQuery {
  /** Of one agent. @default of all, and of the host */
  readonly id?: string
  /** Those with a higher `seq`. @default from now on */
  readonly since?: number
  /** Of these kinds. @default of all */
  readonly kinds?: readonly FactKind[]
  /** When the log is read on. @default the next turn of the event loop */
  readonly pace?: Schedule
}

export interface FactLogParts {
  readonly clock: Clock
  readonly live$: Observable<Fact>
  readonly onObserverError: (error: unknown) => void
  /** The highest number given. */
  readonly newest: () => number
  /** Facts with a higher number, in order; a page. */
  readonly after: (seq: number, limit: number) => readonly Fact[]
}

const PAGE = 128
const STREAM = 'facts$'
const GAP = 'stream.gap'

export class FactLog {
  readonly #parts: FactLogParts

  constructor(parts: FactLogParts) {
    this.#parts = parts
  }

  /** Gaps are told whatever is asked for. */
  open({ id, since, kinds, pace }: FactQuery): Observable<Fact> {
    const all = this.#from(since, pace)
    if (id === undefined && kinds === undefined) return all
    const wanted = kinds === undefined ? null : new Set<FactKind>(kinds)
    return where(all, (fact) => {
      if (isOwnGap(fact)) return true
      return (id === undefined || fact.agent === id) && (wanted === null || wanted.has(fact.kind))
    })
  }

  #from(since: number | undefined, pace: Schedule | undefined): Observable<Fact> {
    const { live$, onObserverError } = this.#parts
    const newest = this.#parts.newest()
    const cursor = since ?? newest
    // A cursor of another log, as after the state was replaced: it is read from its beginning.
    const foreign = cursor > newest
    let told = !foreign
    return resume<Fact>({
      afterSeq: foreign ? 0 : cursor,
      past: (after) => {
        const page = this.#page(after)
        if (told) return page
        told = true
        return [this.#gap(0, cursor, 0), ...page]
      },
      live$,
      // What stands before all numbers has none.
      seqOf: ({ seq }) => (seq === 0 ? null : seq),
      isGap: isOwnGap,
      onObserverError,
      perTurn: PAGE,
      ...(pace === undefined ? {} : { schedule: pace }),
    })
  }

  /** A page of the log, a gap before it where it does not begin with the number after the cursor. */
  #page(after: number): readonly Fact[] {
    const page = this.#parts.after(after, PAGE)
    const first = page[0]?.seq ?? this.#parts.newest() + 1
    return first <= after + 1 ? page : [this.#gap(first - 1, after, first - 1 - after), ...page]
  }

  /** @param seq the last one that is missing: whoever comes back with it misses nothing more */
  #gap(seq: number, since: number, missed: number): Fact {
    return makeFact(seq, this.#parts.clock.wall(), GAP, { stream: STREAM, missed, since }) as Fact
  }
}

/** Of the stream of facts itself; gaps of other streams are facts like all others. */
const isOwnGap = ({ kind, data }: Fact): boolean => kind === GAP && 'stream' in data && data.stream === STREAM
