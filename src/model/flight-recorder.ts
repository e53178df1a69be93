/**
 * The flight recorder: a small shared buffer per instance that the thread writes and the host reads, also after the
 * thread is dead. It says which message had begun, which were done, and whether the thread was alive when last seen,
 * without a message being sent for any of it.
 *
 *     thread, per message:  begun = k → pause flag? → run → done = k        (… flushed = done, when replies have left)
 *     host, to be woken:    wakeAt = n, waiting = 1, then read done again   (no wake-up can be lost: both sides are
 *                                                                           sequentially consistent atomics)
 *
 * Numbers are int32 and wrap: compare by signed difference only.
 */

/** Indices of the atomic int32 cells. */
export const CELL = {
  /** Number of the last delivery that was begun. */
  begun: 0,
  /** How many deliveries are done; with one at a time also the number of the last. */
  done: 1,
  /** Up to here replies and outbound messages have been posted; see `unposted`. */
  flushed: 2,
  /** 1: begin nothing. Written by the host. */
  pause: 3,
  /** Monotonic ms of the last sign of life. */
  heartbeat: 4,
  /** The host wants a bell once `done` reaches this. */
  wakeAt: 5,
  /** 1 while the host waits for that bell. */
  waiting: 6,
  /** Outbound messages the host has taken. Written by the host. */
  sendsTaken: 7,
  /** Outbound messages that found no credit. */
  sendsDropped: 8,
  /** Lines of output the host has taken. Written by the host. */
  linesTaken: 9,
  /** Lines of output that found no credit. */
  linesDropped: 10,
  /** Deliveries whose handler failed without ending the thread. */
  failed: 11,
  /** 1 while replies or outbound messages wait to be posted; else all up to `done` has been. */
  unposted: 12,
  /** First of the slots that hold the deliveries in flight, 0 = free; used when `concurrency` is above 1. */
  slots: 13,
} as const

const GAUGES = 4
/** Indices of the plain float64 gauges: each is written by the thread alone and may be read torn by nobody. */
const GAUGE = { heapUsedMb: 0, utilization: 1, turnAt: 2 } as const

const intBytes = (concurrency: number): number => Math.ceil((CELL.slots + (concurrency > 1 ? concurrency : 0)) / 2) * 8

export const recorderBytes = (concurrency: number): number => GAUGES * 8 + intBytes(concurrency)

/** `a - b` for wrapped numbers. */
export const signedDifference = (a: number, b: number): number => (a - b) | 0

/** Both sides' view of one buffer. */
export class FlightRecorder {
  readonly cells: Int32Array
  readonly concurrency: number
  readonly #gauges: Float64Array

  constructor(buffer: SharedArrayBuffer, concurrency: number) {
    this.#gauges = new Float64Array(buffer, 0, GAUGES)
    this.cells = new Int32Array(buffer, GAUGES * 8)
    this.concurrency = concurrency
  }

  static create(concurrency: number): { recorder: FlightRecorder; buffer: SharedArrayBuffer } {
    const buffer = new SharedArrayBuffer(recorderBytes(concurrency))
    return { recorder: new FlightRecorder(buffer, concurrency), buffer }
  }

  read(cell: number): number {
    return Atomics.load(this.cells, cell)
  }

  write(cell: number, value: number): void {
    Atomics.store(this.cells, cell, value)
  }

  add(cell: number, value: number): void {
    Atomics.add(this.cells, cell, value)
  }

  /** Thread: how it is, at a heartbeat. */
  beat(nowMs: number, heapUsedMb: number, utilization: number): void {
    this.#gauges[GAUGE.heapUsedMb] = heapUsedMb
    this.#gauges[GAUGE.utilization] = utilization
    this.write(CELL.heartbeat, nowMs | 0)
  }

  /** Thread: monotonic ms at which it last looked at its clock while working. */
  set turnAt(nowMs: number) {
    this.#gauges[GAUGE.turnAt] = nowMs
  }

  get turnAt(): number {
    return this.#gauges[GAUGE.turnAt] ?? 0
  }

  get heapUsedMb(): number {
    return this.#gauges[GAUGE.heapUsedMb] ?? 0
  }

  get utilization(): number {
    return this.#gauges[GAUGE.utilization] ?? 0
  }

  /** Ms since the last sign of life. */
  heartbeatAgeMs(nowMs: number): number {
    return signedDifference(nowMs | 0, this.read(CELL.heartbeat))
  }

  /** Deliveries that are done, but whose replies and sends may not have been posted. */
  unflushed(): number {
    return this.read(CELL.unposted) === 0
      ? 0
      : Math.max(0, signedDifference(this.read(CELL.done), this.read(CELL.flushed)))
  }

  /** Numbers of the deliveries that have begun and are not done, in order. */
  inFlight(): number[] {
    const begun = this.read(CELL.begun)
    if (this.concurrency <= 1) return begun === this.read(CELL.done) ? [] : [begun]
    const open: number[] = []
    for (let slot = 0; slot < this.concurrency; slot++) {
      const seq = this.read(CELL.slots + slot)
      if (seq !== 0 && signedDifference(seq, begun) <= 0) open.push(seq)
    }
    return open.sort(signedDifference)
  }
}
