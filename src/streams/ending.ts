/** An end that many streams share: each is made when it is followed, and completes when the end comes. Used by the client. */
import { defer, type Observable, Subject, takeUntil } from 'rxjs'

export class Ending {
  readonly #end = new Subject<void>()

  until<T>(make: () => Observable<T>): Observable<T> {
    return defer(make).pipe(takeUntil(this.#end))
  }

  end(): void {
    this.#end.next()
  }
}
