/**
 * How much of the heap's old generation is alive. What V8 counts as used holds garbage too, so where that passes the
 * mark the garbage is collected first: nobody is ended for what V8 has not got round to yet. Read by the heartbeat.
 */
import { WATERMARK } from '../model/heap.ts'

const MB = 1024 * 1024
/** After a collection the next comes only when this much more than what was alive is used. */
const AGAIN_FACTOR = 1.25

export class LiveHeap {
  readonly #markMb: number
  readonly #used: () => number
  readonly #collect: () => void
  #collectAboveMb: number

  /** @param heapMb what it may hold, MiB */
  constructor(heapMb: number, used = oldGenerationMb, collect = collectGarbage) {
    this.#markMb = heapMb * WATERMARK
    this.#collectAboveMb = this.#markMb
    this.#used = used
    this.#collect = collect
  }

  /** MiB, garbage included up to the mark; above the mark only what is alive counts. */
  read(): number {
    const used = this.#used()
    if (used <= this.#collectAboveMb) return Math.min(used, this.#markMb)
    this.#collect()
    const live = this.#used()
    // Above the mark it is measured at every beat, until the host has seen it.
    this.#collectAboveMb = live > this.#markMb ? this.#markMb : Math.max(this.#markMb, live * AGAIN_FACTOR)
    return live
  }
}

/** New space has a limit of its own, and holds mostly what is dead already. */
function oldGenerationMb(): number {
  let bytes = 0
  // Loaded when it is first asked, after the boot.
  const { getHeapSpaceStatistics } = process.getBuiltinModule('node:v8')
  for (const { space_name, space_used_size } of getHeapSpaceStatistics())
    if (!space_name.startsWith('new_')) bytes += space_used_size
  return bytes / MB
}

let gc: (() => void) | undefined = globalThis.gc === undefined ? undefined : globalThis.gc.bind(globalThis)

/** One full collection: about 2 ms for each MiB that is alive. */
function collectGarbage(): void {
  gc ??= exposedGc()
  gc()
}

/** The function is made for new contexts while the flag is up, and only then. */
function exposedGc(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const { runInNewContext } = process.getBuiltinModule('node:vm')
  setFlagsFromString('--expose-gc')
  const exposed = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  return exposed
}
