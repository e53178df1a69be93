/** A part of a stream: the values that a caller asked for. What guards the stream guards the part. */
import { filter, type Observable } from 'rxjs'

export const where = <T>(stream$: Observable<T>, which: (value: T) => boolean): Observable<T> =>
  stream$.pipe(filter(which))
