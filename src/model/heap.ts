/**
 * What `limits.heapMb` means: an instance whose live data pass the mark is ended by the host. V8's own limit lies far
 * above it, as the last resort: what grows by doubling holds the old table and the new at once, three times what it
 * was, and where that does not fit V8 aborts the whole process.
 */

/** The share of `heapMb` above which an instance is ended. */
export const WATERMARK = 0.9

/** V8's own limit of the old generation, in `heapMb`. */
export const HEADROOM = 3
