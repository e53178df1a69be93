/**
 * The arithmetic of the benches, pure: medians, percentiles, ratios round by round, and the order in which the
 * variants of a round run. A round that has no figure for a variant is `undefined` and counts nowhere.
 */

/** One figure a round; `undefined` where the variant failed. */
export type Series = readonly (number | undefined)[]

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  /** How many rounds gave a figure. */
  readonly count: number
}

const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)

const present = (series: Series): number[] =>
  series.filter((value) => value !== undefined && Number.isFinite(value)) as number[]

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return Number.NaN
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The smallest value that `share` of all values do not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const rank = Math.ceil(values.length * share) - 1
  return ascending(values)[Math.max(0, rank)] ?? Number.NaN
}

/** Median, least and greatest of the rounds that gave a figure; undefined when none did. */
export function spread(series: Series): Spread | undefined {
  const values = present(series)
  if (values.length === 0) return undefined
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), count: values.length }
}

/** Of each round by itself, so that a slow minute of the machine weighs on both sides alike. */
export function ratios(series: Series, base: Series): (number | undefined)[] {
  return series.map((value, round) => {
    const divisor = base[round]
    return value === undefined || divisor === undefined || divisor === 0 ? undefined : value / divisor
  })
}

/**
 * The variants in the order of a round: the start moves on by one each round and every second round runs backwards,
 * so that none always comes first or always follows the same neighbour.
 */
export function orderOfRound<T>(items: readonly T[], round: number): T[] {
  const start = items.length === 0 ? 0 : round % items.length
  const rotated = [...items.slice(start), ...items.slice(0, start)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}
