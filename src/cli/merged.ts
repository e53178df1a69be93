/** Several streams as one, in the order in which their values come. */

interface Turn {
  readonly index: number
  readonly result: IteratorResult<unknown>
}

/** Ends when all have; fails when one does, and lets go of the others then. */
export async function* merged(sources: readonly AsyncIterable<unknown>[]): AsyncGenerator<unknown> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const turn = async (index: number): Promise<Turn> => ({ index, result: await iterators[index]!.next() })
  const waiting = new Map(iterators.map((_, index) => [index, turn(index)]))
  try {
    while (waiting.size > 0) {
      const { index, result } = await Promise.race(waiting.values())
      waiting.delete(index)
      if (result.done === true) continue
      waiting.set(index, turn(index))
      yield result.value
    }
  } finally {
    // Neither waits nor fails: nobody is left to be told.
    for (const last of waiting.values()) last.catch(() => {})
    for (const iterator of iterators) iterator.return?.().catch(() => {})
  }
}
