import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Bm25Index, type IndexedDocument } from '../../../examples/librarian/agents/librarian/bm25.ts'

function document(path: string, words: string): IndexedDocument {
  const terms: Record<string, number> = {}
  const list = words.split(' ').filter((word) => word !== '')
  for (const word of list) terms[word] = (terms[word] ?? 0) + 1
  return { path, title: path.toUpperCase(), excerpt: words, bytes: words.length, length: list.length, terms }
}

function indexOf(...documents: readonly IndexedDocument[]): Bm25Index {
  const index = new Bm25Index()
  for (const each of documents) index.add(each)
  return index
}

const SMALL = [document('a', 'otter otter holt'), document('b', 'otter'), document('c', 'river bank')]

describe('a small corpus, reckoned by hand', () => {
  // 3 documents, average length 2. idf(otter) = ln(1 + 1.5 / 2.5) = ln 1.6; idf(holt) = ln(1 + 2.5 / 1.5) = ln(8 / 3).
  test('one term: a shorter document beats one that has it twice among three', () => {
    // a: 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 1.5)) = 4.4 / 3.65; b: 2.2 / (1 + 1.2 * (0.25 + 0.375)) = 2.2 / 1.75
    const hits = indexOf(...SMALL).find(['otter'], 10)
    expect(hits.map(({ path }) => path)).toEqual(['b', 'a'])
    expect(hits[0]?.score).toBeCloseTo((Math.log(1.6) * 2.2) / 1.75, 12)
    expect(hits[1]?.score).toBeCloseTo((Math.log(1.6) * 4.4) / 3.65, 12)
  })

  test('two terms: scores add up', () => {
    const [first, second] = indexOf(...SMALL).find(['otter', 'holt'], 10)
    expect(first).toMatchObject({ path: 'a', title: 'A', excerpt: 'otter otter holt' })
    expect(first?.score).toBeCloseTo((Math.log(1.6) * 4.4) / 3.65 + (Math.log(8 / 3) * 2.2) / 2.65, 12)
    expect(second?.path).toBe('b')
  })

  test('of equals, the path that sorts first comes first', () => {
    const hits = indexOf(document('z', 'otter'), document('y', 'otter'), document('x', 'bank')).find(['otter'], 10)
    expect(hits.map(({ path }) => path)).toEqual(['y', 'z'])
  })

  test('unknown terms, no terms and an empty index find nothing', () => {
    expect(indexOf(...SMALL).find(['whale'], 10)).toEqual([])
    expect(indexOf(...SMALL).find([], 10)).toEqual([])
    expect(new Bm25Index().find(['otter'], 10)).toEqual([])
  })

  test('a term given twice counts once', () => {
    const index = indexOf(...SMALL)
    expect(index.find(['otter', 'otter'], 10)).toEqual(index.find(['otter'], 10))
  })

  test('words that every object has are terms like any other', () => {
    const index = indexOf(document('a', 'constructor toString'))
    expect(index.find(['constructor'], 1)).toHaveLength(1)
    expect(index.find(['valueOf'], 1)).toHaveLength(0)
  })
})

describe('adding again', () => {
  test('the same document changes nothing', () => {
    const index = indexOf(...SMALL)
    const before = [index.stats, index.find(['otter', 'bank'], 10)]
    for (const each of SMALL) index.add(each)
    expect([index.stats, index.find(['otter', 'bank'], 10)]).toEqual(before)
  })

  test('another text under the same path takes its place', () => {
    const index = indexOf(...SMALL, document('a', 'whale'))
    expect(index.find(['holt'], 10)).toEqual([])
    expect(index.find(['whale'], 10)).toHaveLength(1)
    expect(index.stats).toEqual({ documents: 3, terms: 4, postings: 4, bytes: 20 })
  })

  test('removing all leaves nothing behind', () => {
    const index = indexOf(...SMALL)
    for (const path of ['a', 'b', 'c', 'no such']) index.remove(path)
    expect(index.stats).toEqual({ documents: 0, terms: 0, postings: 0, bytes: 0 })
  })
})

/** The formula as it stands in the books, over all documents, with a full sort. */
function naive(documents: readonly IndexedDocument[], terms: readonly string[], limit: number) {
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length
  const score = (of: IndexedDocument): number =>
    [...new Set(terms)].reduce((sum, term) => {
      const tf = of.terms[term] ?? 0
      const df = documents.filter((other) => other.terms[term] !== undefined).length
      const idf = Math.log(1 + (documents.length - df + 0.5) / (df + 0.5))
      return tf === 0 ? sum : sum + (idf * tf * (1.2 + 1)) / (tf + 1.2 * (1 - 0.75 + (0.75 * of.length) / average))
    }, 0)
  return documents
    .map((of) => ({ path: of.path, score: score(of) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
}

test('ranks as the formula does, whatever was added, replaced and removed before', () => {
  const word = fc.constantFrom('otter', 'holt', 'river', 'bank', 'eel', 'ice')
  const words = fc.array(word, { maxLength: 8 }).map((list) => list.join(' '))
  const change = fc.record({ path: fc.constantFrom(...'abcdefgh'), words: fc.option(words) })
  const query = fc.array(word, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), query, fc.integer({ min: 1, max: 9 }), (changes, terms, limit) => {
      const index = new Bm25Index()
      const current = new Map<string, IndexedDocument>()
      for (const { path, words } of changes) {
        if (words === null) {
          index.remove(path)
          current.delete(path)
        } else {
          index.add(document(path, words))
          current.set(path, document(path, words))
        }
      }
      const hits = index.find(terms, limit).map(({ path, score }) => ({ path, score }))
      expect(hits).toEqual(naive([...current.values()], terms, limit))
    }),
  )
})
