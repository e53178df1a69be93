/** Facts: numbered, logged with their own level and sentence, and put on the stream. The one writer of `seq`. */
import { type Fact, type FactKind, makeFact, type Report } from '../model/fact.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { type Bus, createBus } from '../streams/bus.ts'

export interface Facts {
  readonly report: Report
  readonly bus: Bus<Fact>
  /** What an observer of a stream threw; it is cut off already. */
  observerFailed(stream: string): (error: unknown) => void
}

export function createFacts(clock: Clock, log: Logger): Facts {
  let seq = 0
  const observerFailed = (stream: string) => (error: unknown) => {
    report('observer.failed', { stream, error: error instanceof Error ? error.message : String(error) })
  }
  const gap = (missed: number): Fact => makeFact(seq, clock.wall(), 'stream.gap', { missed })
  const bus = createBus<Fact>({ onObserverError: observerFailed('facts$'), gap })
  const report: Report = (kind, data, subject) => {
    const fact = makeFact(++seq, clock.wall(), kind, data, subject)
    log[fact.level]({ kind, ...subject, ...(data as object) }, fact.message)
    bus.publish(fact as Fact<FactKind>)
  }
  return { report, bus, observerFailed }
}
