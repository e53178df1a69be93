/**
 * How a supervisor ended by its own rules, as the record that is kept of it and as the fact that is told; and the stops of
 * it that are under way, by its own rules or another's word.
 */
import type { SupervisorEnd } from '../model/death.ts'
import type { Report } from '../model/fact.ts'
import type { Clock } from '../platform/clock.ts'
import type { Child } from './child.ts'
import { BUDGET_DEFAULTS } from './intensity.ts'
import type { Restart } from './restart.ts'
import type { SupervisorOptions } from './supervisor-spec.ts'

/**
 * @param counted the restarts that filled its budget, where it gave up; else none
 * @param significant the child whose end ended it, where one did
 */
export function endOf(
  cause: SupervisorEnd['cause'],
  counted: readonly Restart[],
  significant: Child | undefined,
  clock: Clock,
): SupervisorEnd {
  return {
    cause,
    at: clock.wall(),
    restarts: counted.map(({ child, deathId }) => ({ child, deathId })),
    withinMs: counted.length === 0 ? 0 : clock.now() - counted[0]!.at,
    ...(significant === undefined ? {} : { child: significant.id }),
    decision: null,
  }
}

export function reportEnd(report: Report, options: SupervisorOptions, end: SupervisorEnd): void {
  const { id: supervisor, intensity = BUDGET_DEFAULTS.intensity, periodMs = BUDGET_DEFAULTS.periodMs } = options
  const { restarts, withinMs, child = '' } = end
  if (end.cause === 'shutdown') return report('supervisor.ended', { supervisor, child })
  const filledBy = restarts.map((restart) => restart.child)
  report('supervisor.gave_up', { supervisor, restarts: restarts.length, withinMs, intensity, periodMs, filledBy })
}

export class Stops {
  #count = 0
  #all: Promise<unknown> = Promise.resolve()

  get underWay(): boolean {
    return this.#count > 0
  }

  /** Resolves once those that have begun by now have ended. */
  settled(): Promise<unknown> {
    return this.#all
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.#count++
    const done = work.finally(() => this.#count--)
    this.#all = Promise.allSettled([this.#all, done])
    return done
  }
}
