/**
 * The known name that a mistyped one was most likely meant to be. Used by the gate's sentences. Pure; suggests nothing
 * rather than something far-fetched.
 */

/** Longest name worth comparing: the distance costs its square. */
const MAX_LENGTH = 64

/** Insertions, deletions, substitutions and swaps of neighbours that turn `from` into `to`. */
function distance(from: string, to: string): number {
  let older: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const current = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      const step = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      current.push(swapped ? Math.min(step, older[j - 2]! + 1) : step)
    }
    older = previous
    previous = current
  }
  return previous[to.length]!
}

/** The nearest of `known` within a third of the name's length (at least one edit), or undefined. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  let limit = Math.max(1, Math.floor(name.length / 3))
  let found: string | undefined
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > limit || candidate.length > MAX_LENGTH) continue
    const edits = distance(name.toLowerCase(), candidate.toLowerCase())
    if (edits > limit) continue
    found = candidate
    limit = edits - 1
    if (limit < 0) break
  }
  return found
}
