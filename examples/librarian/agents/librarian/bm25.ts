/**
 * An inverted index in memory, ranked by Okapi BM25 (k1 1.2, b 0.75). Documents are known by path: adding one again
 * replaces it. Terms come in ready made; this file knows nothing of words. No input or output, no clock.
 */
export interface IndexedDocument {
  readonly path: string
  readonly title: string
  readonly excerpt: string
  readonly bytes: number
  /** All terms, repeats counted. */
  readonly length: number
  /** Each term and how often it occurs. */
  readonly terms: Readonly<Record<string, number>>
}

export interface Hit {
  readonly path: string
  readonly title: string
  readonly score: number
  readonly excerpt: string
}

export interface IndexStats {
  readonly documents: number
  readonly terms: number
  readonly postings: number
  readonly bytes: number
}

/** A document without its counts, which the postings hold. */
interface Entry extends Omit<IndexedDocument, 'terms'> {
  readonly terms: readonly string[]
}

const K1 = 1.2
const B = 0.75

export class Bm25Index {
  readonly #entries = new Map<string, Entry>()
  /** Term to the documents that have it, and how often. */
  readonly #postings = new Map<string, Map<Entry, number>>()
  #totalLength = 0
  #totalBytes = 0
  #totalPostings = 0

  add({ terms, ...document }: IndexedDocument): void {
    this.remove(document.path)
    const entry: Entry = { ...document, terms: Object.keys(terms) }
    for (const term of entry.terms) this.#postingsOf(term).set(entry, terms[term] ?? 0)
    this.#entries.set(entry.path, entry)
    this.#count(entry, 1)
  }

  remove(path: string): void {
    const entry = this.#entries.get(path)
    if (entry === undefined) return
    for (const term of entry.terms) {
      const postings = this.#postings.get(term)
      postings?.delete(entry)
      if (postings?.size === 0) this.#postings.delete(term)
    }
    this.#entries.delete(path)
    this.#count(entry, -1)
  }

  /** The best `limit` documents that have any of the terms, best first; of equals, the one whose path sorts first. */
  find(terms: Iterable<string>, limit: number): Hit[] {
    const scores = new Map<Entry, number>()
    for (const term of new Set(terms)) this.#score(term, scores)
    return best(scores, limit).map(([{ path, title, excerpt }, score]) => ({ path, title, score, excerpt }))
  }

  get stats(): IndexStats {
    return {
      documents: this.#entries.size,
      terms: this.#postings.size,
      postings: this.#totalPostings,
      bytes: this.#totalBytes,
    }
  }

  #postingsOf(term: string): Map<Entry, number> {
    const known = this.#postings.get(term)
    if (known !== undefined) return known
    const postings = new Map<Entry, number>()
    this.#postings.set(term, postings)
    return postings
  }

  #count({ length, bytes, terms }: Entry, sign: 1 | -1): void {
    this.#totalLength += sign * length
    this.#totalBytes += sign * bytes
    this.#totalPostings += sign * terms.length
  }

  #score(term: string, scores: Map<Entry, number>): void {
    const postings = this.#postings.get(term)
    if (postings === undefined) return
    const rarity = Math.log(1 + (this.#entries.size - postings.size + 0.5) / (postings.size + 0.5))
    const averageLength = this.#totalLength / this.#entries.size
    for (const [entry, count] of postings) {
      const saturation = count + K1 * (1 - B + (B * entry.length) / averageLength)
      scores.set(entry, (scores.get(entry) ?? 0) + (rarity * count * (K1 + 1)) / saturation)
    }
  }
}

type Scored = readonly [entry: Entry, score: number]

const before = ([a, x]: Scored, [b, y]: Scored): boolean => x > y || (x === y && a.path < b.path)

/** Keeps only `limit` while it goes through: common terms hit thousands of documents, and few are asked for. */
function best(scores: Iterable<Scored>, limit: number): Scored[] {
  const kept: Scored[] = []
  for (const scored of scores) {
    const last = kept.at(-1)
    if (kept.length === limit && (last === undefined || !before(scored, last))) continue
    const place = kept.findIndex((other) => before(scored, other))
    kept.splice(place === -1 ? kept.length : place, 0, scored)
    if (kept.length > limit) kept.pop()
  }
  return kept
}
