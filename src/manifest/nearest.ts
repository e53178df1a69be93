/**
 * The name that was probably meant: used for "did you mean" in refusals. Pure; bounded, since what it compares was
 * written by others.
 */

const MAX_LENGTH = 64

const plain = (name: string): string =>
  name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[-_. ]/g, '')

/** Edits between two names; a swap of neighbours counts as one. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1)
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}

/** The nearest of `known`, if it is near enough to have been meant. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const wanted = plain(name)
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of known) {
    const d = distance(wanted, plain(candidate))
    if (d < bestDistance) {
      best = candidate
      bestDistance = d
    }
  }
  return best
}
