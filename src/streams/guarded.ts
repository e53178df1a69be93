/**
 * An Observable that no observer can turn against the host. RxJS rethrows what an observer throws on a timer, which ends
 * the process; here it is caught, reported once, and that one subscription is cut off. Holds for `subscribe` on the
 * source and through every operator piped onto it. Every stream that leaves this room is one. It must not touch rxjs's
 * global `config`, which belongs to the program.
 */
import { Observable, type Observer, type Operator, Subscriber, type TeardownLogic } from 'rxjs'

/** Told what an observer threw, once per subscription; the subscription is cut off already. */
export type OnObserverError = (error: unknown) => void

/** Where a guarded stream's values go: one subscription, which may close at any call. None of these throws. */
export interface Sink<T> {
  next(value: T): void
  error(error: unknown): void
  complete(): void
  readonly closed: boolean
}

/** The end of a pipe: one observer, its throws kept in. */
class GuardedSubscriber<T> extends Subscriber<T> {
  readonly #observer: Partial<Observer<T>>
  readonly #report: OnObserverError
  #reported = false

  constructor(observer: Partial<Observer<T>>, report: OnObserverError) {
    super()
    this.#observer = observer
    this.#report = report
  }

  protected override _next(value: T): void {
    try {
      this.#watch(this.#observer.next?.(value))
    } catch (error) {
      this.fail(error)
    }
  }

  protected override _error(error: unknown): void {
    try {
      if (this.#observer.error === undefined) this.fail(error)
      else this.#watch(this.#observer.error(error))
    } catch (thrown) {
      this.fail(thrown)
    }
    this.#cut()
  }

  protected override _complete(): void {
    try {
      this.#watch(this.#observer.complete?.())
    } catch (error) {
      this.fail(error)
    }
    this.#cut()
  }

  /** Cuts the subscription off, then reports, so that a report which comes back as a value finds it gone. */
  fail(error: unknown): void {
    const first = !this.#reported
    this.#reported = true
    this.#cut()
    if (first) tell(this.#report, error)
  }

  /** An async observer throws by a rejection, which would end the process just as well. */
  #watch(returned: unknown): void {
    if (returned instanceof Promise) returned.catch((error: unknown) => this.fail(error))
  }

  /** Runs the teardowns; one that throws (a `finalize`, say) is the observer's fault too. */
  #cut(): void {
    try {
      this.unsubscribe()
    } catch (error) {
      if (!this.#reported) tell(this.#report, error)
      this.#reported = true
    }
  }
}

function tell(report: OnObserverError, error: unknown): void {
  try {
    report(error)
  } catch {
    // Whoever is told of faults has one: there is nobody left to tell.
  }
}

class GuardedObservable<T> extends Observable<T> {
  readonly #report: OnObserverError

  constructor(report: OnObserverError, attach?: (subscriber: Subscriber<T>) => TeardownLogic) {
    super(attach)
    this.#report = report
    // By closure and not as a method: rxjs lends `lift` to observables of its own, which have no report.
    this.lift = function <R>(this: Observable<T>, operator?: Operator<T, R>): Observable<R> {
      const lifted = new GuardedObservable<R>(report)
      lifted.source = this
      lifted.operator = operator
      return lifted
    }
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): ReturnType<Observable<T>['subscribe']> {
    // A Subscriber is the inside of an operator: the guard stands at the end of the pipe.
    if (observerOrNext instanceof Subscriber) return super.subscribe(observerOrNext)
    const observer =
      typeof observerOrNext === 'object' && observerOrNext !== null
        ? observerOrNext
        : observerOf(observerOrNext, error, complete)
    return super.subscribe(new GuardedSubscriber(observer, this.#report))
  }
}

function observerOf<T>(
  next: ((value: T) => void) | null | undefined,
  error: ((error: unknown) => void) | null | undefined,
  complete: (() => void) | null | undefined,
): Partial<Observer<T>> {
  return { ...(next ? { next } : {}), ...(error ? { error } : {}), ...(complete ? { complete } : {}) }
}

/** What passes up through an operator (the teardown of an inner stream that throws) is kept from the producer too. */
function sinkFor<T>(subscriber: Subscriber<T>, report: OnObserverError): Sink<T> {
  const keepIn = (pass: () => void): void => {
    try {
      pass()
    } catch (error) {
      tell(report, error)
      try {
        subscriber.unsubscribe()
      } catch {
        // One report for one subscription.
      }
    }
  }
  return {
    next: (value) => keepIn(() => subscriber.next(value)),
    error: (error) => keepIn(() => subscriber.error(error)),
    complete: () => keepIn(() => subscriber.complete()),
    get closed() {
      return subscriber.closed
    },
  }
}

/**
 * A guarded stream.
 * @param attach called at each subscription; what it returns is called once when the subscription ends
 */
export function guarded<T>(onObserverError: OnObserverError, attach: (sink: Sink<T>) => () => void): Observable<T> {
  return new GuardedObservable<T>(onObserverError, (subscriber) => attach(sinkFor(subscriber, onObserverError)))
}

/** The same values, guarded: for an observable that was made elsewhere. */
export function guard<T>(source: Observable<T>, onObserverError: OnObserverError): Observable<T> {
  return new GuardedObservable<T>(onObserverError, (subscriber) => source.subscribe(subscriber))
}
