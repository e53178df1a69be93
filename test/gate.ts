/** A gate that a handler in a thread waits at until the test opens it: shared memory, so that no message is needed. */

const OPEN = 0
const REACHED = 1

export class Gate {
  /** The payload to send. */
  readonly cells = new Int32Array(new SharedArrayBuffer(8))

  /** How many handlers have come to it. */
  get reached(): number {
    return Atomics.load(this.cells, REACHED)
  }

  open(): void {
    Atomics.store(this.cells, OPEN, 1)
    Atomics.notify(this.cells, OPEN)
  }
}

/** The other side, as text for a role: `wait` lets the thread do other things, `block` does not. */
export const AT_GATE = `
const wait = async (cells: Int32Array, signal?: AbortSignal): Promise<void> => {
  Atomics.add(cells, ${REACHED}, 1)
  while (Atomics.load(cells, ${OPEN}) === 0 && signal?.aborted !== true) await new Promise((resolve) => setTimeout(resolve, 1))
  signal?.throwIfAborted()
}
const block = (cells: Int32Array): void => {
  Atomics.add(cells, ${REACHED}, 1)
  Atomics.wait(cells, ${OPEN}, 0)
}
`
