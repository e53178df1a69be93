/**
 * Schedules by their next due time: a binary heap in which each knows its place, so that any one can be taken out. Adding
 * and taking cost the logarithm of how many there are. Of equals none comes first.
 */

/** Something that is due; the queue keeps `slot`. */
export interface Queued {
  /** When it is due; must not change while it is queued. */
  readonly dueAt: number
  /** Its place in the heap; -1 while it is not queued. */
  slot: number
}

export class DueQueue<T extends Queued> {
  readonly #heap: T[] = []

  get size(): number {
    return this.#heap.length
  }

  /** The one due first. */
  peek(): T | undefined {
    return this.#heap[0]
  }

  /** Adds one that is not queued. */
  add(item: T): void {
    this.#heap.push(item)
    this.#rise(item, this.#heap.length - 1)
  }

  /** Takes one out; nothing happens where it is not queued. */
  remove(item: T): void {
    const { slot } = item
    if (slot === -1) return
    item.slot = -1
    const last = this.#heap.pop()
    if (last === undefined || last === item) return
    this.#rise(last, slot)
    this.#sink(last, last.slot)
  }

  clear(): void {
    for (const item of this.#heap) item.slot = -1
    this.#heap.length = 0
  }

  #rise(item: T, from: number): void {
    let slot = from
    while (slot > 0) {
      const above = (slot - 1) >> 1
      const parent = this.#heap[above]!
      if (parent.dueAt <= item.dueAt) break
      this.#put(parent, slot)
      slot = above
    }
    this.#put(item, slot)
  }

  #sink(item: T, from: number): void {
    let slot = from
    for (;;) {
      const left = 2 * slot + 1
      const right = left + 1
      const least =
        (this.#heap[right]?.dueAt ?? Number.POSITIVE_INFINITY) < (this.#heap[left]?.dueAt ?? 0) ? right : left
      const child = this.#heap[least]
      if (child === undefined || child.dueAt >= item.dueAt) break
      this.#put(child, slot)
      slot = least
    }
    this.#put(item, slot)
  }

  #put(item: T, slot: number): void {
    this.#heap[slot] = item
    item.slot = slot
  }
}
