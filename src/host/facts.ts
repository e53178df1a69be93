/** Facts: numbered, logged with their own level and sentence, and put on the stream. The one writer of `seq`. */
import type { Observable } from 'rxjs'
import { type Fact, type FactKind, makeFact, type Report } from '../model/fact.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { type Bus, createBus } from '../streams/bus.ts'
import { FactLog, type FactQuery } from './fact-log.ts'
import type { Secrets } from './secrets.ts'

export interface Facts {
  readonly report: Report
  readonly bus: Bus<Fact>
  /** The highest number given. */
  readonly newest: number
  /** From a cursor on, or from now on. */
  from(query: FactQuery): Observable<Fact>
  /** Options of any other stream: what its observers threw (they are cut off already) or missed becomes a fact. */
  watched(stream: string): {
    readonly onObserverError: (error: unknown) => void
    readonly onMissed: (missed: number) => void
  }
}

/** Where facts are kept. */
export interface FactKeeper {
  fact(fact: Fact): void
  /** Those with a higher number, in order; at most `limit`. */
  factsAfter(seq: number, limit: number): readonly Fact[]
}

/** @param lastSeq the highest number given before */
export function createFacts(clock: Clock, log: Logger, lastSeq: number, secrets: Secrets, keeper: FactKeeper): Facts {
  let seq = lastSeq
  const observerFailed = (stream: string) => (error: unknown) => {
    report('observer.failed', { stream, error: error instanceof Error ? error.message : String(error) })
  }
  const gap = (missed: number): Fact => makeFact(seq, clock.wall(), 'stream.gap', { stream: 'facts$', missed })
  const bus = createBus<Fact>({ onObserverError: observerFailed('facts$'), gap })
  const report: Report = (kind, data, subject) => {
    const fact = makeFact(++seq, clock.wall(), kind, secrets.hideIn(data), subject)
    log[fact.level]({ kind, ...subject, ...(fact.data as object) }, fact.message)
    keeper.fact(fact as Fact<FactKind>)
    bus.publish(fact as Fact<FactKind>)
  }
  const watched = (stream: string) => ({
    onObserverError: observerFailed(stream),
    onMissed: (missed: number) => report('stream.gap', { stream, missed }),
  })
  const factLog = new FactLog({
    clock,
    live$: bus.stream$,
    onObserverError: observerFailed('facts$'),
    newest: () => seq,
    after: (from, limit) => keeper.factsAfter(from, limit),
  })
  return {
    report,
    bus,
    from: (query) => factLog.open(query),
    watched,
    get newest() {
      return seq
    },
  }
}
