/**
 * What the host lends to whoever reads or searches: text to terms, on a pool of threads, so that a long document does
 * not hold up its agent. Both sides of a search go through here; a query meets the words a document was indexed by.
 */
import { defineCapability } from 'holt/capability'
import { stem } from './porter.ts'

/** The terms of one text, each with how often it occurs. `length` counts them all. */
export interface Bag {
  readonly length: number
  readonly terms: Readonly<Record<string, number>>
}

const SHORTEST = 2
/** Longer ones are hashes and keys, which nobody searches for. */
const LONGEST = 40

/** Runs of letters and digits, in lower case, in the order of the text. */
export function tokens(text: string): string[] {
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return words.filter((word) => word.length >= SHORTEST && word.length <= LONGEST)
}

export function bag(text: string): Bag {
  const words = tokens(text)
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  // No prototype: `constructor` is a word like any other.
  const terms: Record<string, number> = Object.create(null)
  for (const [word, count] of counts) {
    const term = /^[a-z]+$/.test(word) ? stem(word) : word
    terms[term] = (terms[term] ?? 0) + count
  }
  return { length: words.length, terms }
}

export default defineCapability({
  id: 'text',
  placement: 'pool',
  methods: {
    terms: (texts: readonly string[]): Bag[] => texts.map(bag),
  },
})
