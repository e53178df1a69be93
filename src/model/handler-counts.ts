/**
 * How often each handler of an instance was called and how often it failed, in memory that thread and host share: exact
 * at every moment, and after the thread is dead, however it died. The thread alone writes; two cells a handler.
 */

const CELLS = 2

/** Whole numbers up to 2^53 in cells of their own; the platform reads and writes them whole. */
export type HandlerCounts = Float64Array<SharedArrayBuffer>

export const newHandlerCounts = (handlers: number): HandlerCounts =>
  new Float64Array(new SharedArrayBuffer(Math.max(1, handlers * CELLS) * Float64Array.BYTES_PER_ELEMENT))

/** Thread: the handler at this index is called. */
export function countCall(counts: HandlerCounts, index: number): void {
  counts[index * CELLS]!++
}

/** Thread: it failed. */
export function countError(counts: HandlerCounts, index: number): void {
  counts[index * CELLS + 1]!++
}

export const readCounts = (
  counts: HandlerCounts,
  index: number,
): { readonly count: number; readonly errors: number } => ({
  count: counts[index * CELLS] ?? 0,
  errors: counts[index * CELLS + 1] ?? 0,
})
