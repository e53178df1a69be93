/** How many requests each token may make: a bucket for each, which fills with time. */
import { HoltError } from '../../model/error.ts'

interface Bucket {
  readonly level: number
  readonly at: number
}

export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

export class RateLimit {
  readonly #rate: Rate
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** @param now monotonic ms */
  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  /** @throws HoltError `RateLimited`, with the time to wait */
  take(token: string): void {
    const now = this.#now()
    const level = filled(this.#buckets.get(token), this.#rate, now)
    if (level < 1) {
      const retryAfterS = Math.max(1, Math.ceil((1 - level) / this.#rate.perSecond))
      const { perSecond, burst } = this.#rate
      const text = `expected at most ${perSecond} requests a second, ${burst} at once. Try again in ${retryAfterS} s`
      throw new HoltError('RateLimited', text, { retryAfterS })
    }
    this.#buckets.set(token, { level: level - 1, at: now })
  }
}

const filled = (bucket: Bucket | undefined, { perSecond, burst }: Rate, now: number): number =>
  bucket === undefined ? burst : Math.min(burst, bucket.level + ((now - bucket.at) / 1000) * perSecond)
