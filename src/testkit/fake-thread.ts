/**
 * A thread that is none: it speaks the wire of a real one in the same thread, at once, and does what a test tells it
 * to: crash, exit, run out of memory, fall silent, refuse to boot, or refuse to end. It beats by the clock it is given.
 */
import { EventEmitter } from 'node:events'
import type { MessagePort } from 'node:worker_threads'
import type { Thread, Threads } from '../actors/spawn.ts'
import type { BootStep } from '../model/death.ts'
import { describeError } from '../model/error.ts'
import { CELL, FlightRecorder, signedDifference } from '../model/flight-recorder.ts'
import { nameIn } from '../model/name-column.ts'
import { encodePayload } from '../model/payload.ts'
import { BodyColumnBuilder, readColumn } from '../model/payload-column.ts'
import {
  AWAITED,
  type Batch,
  BELL,
  type DataFromThread,
  type DataToThread,
  type Flush,
  type FromThread,
  type Init,
  type ToThread,
  WIRE_VERSION,
} from '../model/wire.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import { prove } from '../platform/proof.ts'

/**
 * What runs in a fake thread, one at a time, by name of the event or command; a throw is a crash, a promise is in flight
 * until it settles. A handler is not told that it is to give up.
 */
export interface FakeRole {
  readonly events?: Readonly<Record<string, (payload: never, thread: FakeThread) => unknown>>
  readonly commands?: Readonly<Record<string, (payload: never, thread: FakeThread) => unknown>>
}

/** How the threads of an agent behave from their start. */
export interface FakeBehaviour {
  /** @default every event and command is handled, and does nothing */
  readonly role?: FakeRole
  /** `ready`; `never`: the boot runs into its time-out; an error: it is refused at that step. @default 'ready' */
  readonly boot?:
    | 'ready'
    | 'never'
    | { readonly step: Extract<BootStep, 'roles' | 'needs' | 'capabilities'>; readonly error: unknown }
  /** How long its stop hooks take, ms by the host's clock. @default 0 */
  readonly stopMs?: number
  /** Does not end when it is told to stop, only when it is terminated. @default false */
  readonly stubborn?: boolean
  /** Does not end when it is terminated either, as a thread inside a native call. @default false */
  readonly unkillable?: boolean
  /** What it answers to a challenge after its boot. @default 'right' */
  readonly proof?: 'right' | 'wrong' | 'none'
  /** What its heartbeats say, MiB. @default 4 */
  readonly heapMb?: number
}

/** The same for all threads of an agent, or by their number, from 1: to fail the first two boots, say. */
export type FakeBehaviours = FakeBehaviour | ((incarnation: number) => FakeBehaviour)

interface Delivery {
  readonly seq: number
  readonly name: string
  readonly payload: unknown
  readonly ask: number
  readonly skip: boolean
}

export class FakeThread extends EventEmitter implements Thread {
  readonly agent: string
  /** Number of the agent's thread, from 1. */
  readonly incarnation: number
  behaviour: FakeBehaviour
  alive = true
  /** It was terminated; one that is unkillable lives on. */
  terminated = false
  /** Names of what it has handled. */
  readonly handled: string[] = []
  readonly #clock: Clock
  #init: Init | null = null
  #recorder: FlightRecorder | null = null
  #heartbeat: Timer | null = null
  #queue: Delivery[] = []
  #busy = false
  #ready = false
  /** The pause that is to be acknowledged once nothing runs. */
  #pausing: number | null = null
  #stopping = false
  #stopHooks: Timer | null = null
  #hung = false

  constructor(agent: string, incarnation: number, behaviour: FakeBehaviour, clock: Clock) {
    super()
    this.agent = agent
    this.incarnation = incarnation
    this.behaviour = behaviour
    this.#clock = clock
  }

  // --- what a test has it do ---------------------------------------------------------------------------------------

  /** An error that nothing catches ends it. */
  crash(error: unknown = new Error('crash')): void {
    this.#say({ type: 'ending', cause: 'crash', error: describeError(error) })
    this.exit(1)
  }

  /** As by `process.exit`. */
  exit(code: number): void {
    if (!this.alive) return
    this.alive = false
    this.#heartbeat?.cancel()
    this.#stopHooks?.cancel()
    queueMicrotask(() => {
      this.emit('exit', code)
      this.#init?.data.close()
    })
  }

  /** As by `ctx.stop()`: its stop hooks run, then it ends. */
  stop(): void {
    this.#say({ type: 'ending', cause: 'normal' })
    this.#stopping = true
    this.#idle()
  }

  outOfMemory(): void {
    const error = Object.assign(new Error('heap limit'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
    queueMicrotask(() => this.emit('error', error))
    this.exit(1)
  }

  /** Its loop turns no more: no heartbeats, nothing is begun, and what it is told is not heard. */
  hang(): void {
    this.#heartbeat?.cancel()
    this.#hung = true
  }

  /** No signs of life, while all else goes on. */
  stopBeating(): void {
    this.#heartbeat?.cancel()
  }

  /** Signs of life again, also after {@link hang}: what it was told meanwhile and was not heard is lost. */
  beatAgain(): void {
    const { heartbeatMs } = this.#init!
    const beat = (): void => this.#recorder!.beat(this.#clock.now(), this.behaviour.heapMb ?? 4, 0)
    beat()
    this.#heartbeat = this.#clock.every(heartbeatMs, beat)
    this.#hung = false
    this.#work()
  }

  /** Says on its data port what a handler would. */
  say(flush: Flush): void {
    this.#post(flush)
  }

  /** One that could not be ended ends after all. */
  release(): void {
    this.exit(1)
  }

  // --- the wire ----------------------------------------------------------------------------------------------------

  postMessage(message: ToThread): void {
    switch (message.type) {
      case 'init':
        return this.#begin(message)
      case 'load':
        return this.#load()
      case 'pause':
        this.#pausing = message.n
        return this.#idle()
      case 'resume':
        this.#pausing = null
        return this.#work()
      case 'challenge':
        return this.#prove(message.nonce)
      case 'stop':
        this.#stopping = true
        return this.#idle()
      default:
        return
    }
  }

  async terminate(): Promise<number> {
    this.terminated = true
    if (this.behaviour.unkillable !== true) this.exit(1)
    return 1
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  #begin(init: Init): void {
    this.#init = init
    const recorder = new FlightRecorder(init.recorder, init.concurrency)
    this.#recorder = recorder
    const beat = (): void => recorder.beat(this.#clock.now(), this.behaviour.heapMb ?? 4, 0)
    beat()
    this.#heartbeat = this.#clock.every(init.heartbeatMs, beat)
    init.data.on('message', (message: DataToThread) => this.#take(message))
    init.data.unref()
    this.#say({ type: 'proof', version: WIRE_VERSION, proof: prove(init) })
  }

  #prove(nonce: string): void {
    const { proof = 'right' } = this.behaviour
    if (this.#hung || proof === 'none') return
    const right = prove({ ...this.#init!, nonce })
    this.#say({ type: 'proof', version: WIRE_VERSION, proof: proof === 'right' ? right : prove(this.#init!) })
  }

  #load(): void {
    const { boot = 'ready', role = {} } = this.behaviour
    if (boot === 'never') return
    if (boot !== 'ready') {
      this.#say({ type: 'refused', step: boot.step, error: describeError(boot.error) })
      return this.exit(1)
    }
    this.#ready = true
    const events = Object.keys(role.events ?? {})
    const commands = Object.keys(role.commands ?? {}).map((name) => ({
      name,
      role: 'fake',
      summary: '',
      exclusive: false,
    }))
    this.#say({ type: 'ready', roles: [{ name: 'fake', events, commands, needs: [] }] })
  }

  /** As with a thread, nothing is heard in the call in which it is said. */
  #say(message: FromThread): void {
    queueMicrotask(() => this.emit('message', message))
  }

  #post(message: DataFromThread): void {
    ;(this.#init?.data as MessagePort | undefined)?.postMessage(message)
  }

  /** What it was told to do as soon as nothing runs. */
  #idle(): void {
    if (this.#busy || this.#hung) return
    if (this.#pausing !== null) this.#say({ type: 'paused', n: this.#pausing })
    this.#pausing = null
    const { stubborn = false, stopMs = 0 } = this.behaviour
    if (!this.#stopping || stubborn) return
    if (stopMs === 0) return this.exit(0)
    this.#stopHooks ??= this.#clock.after(stopMs, () => this.exit(0))
  }

  #take(message: DataToThread): void {
    if (message.type !== 'batch') return
    this.#queue.push(...deliveriesOf(message))
    this.#work()
  }

  #work(): void {
    const recorder = this.#recorder!
    while (this.alive && this.#ready && !this.#busy && !this.#hung && recorder.read(CELL.pause) === 0) {
      const next = this.#queue.shift()
      if (next === undefined) return
      recorder.write(CELL.begun, next.seq)
      if (next.skip) this.#done(next, undefined)
      else this.#run(next)
    }
  }

  #run(delivery: Delivery): void {
    const { events, commands } = this.behaviour.role ?? {}
    const handler = (delivery.ask > 0 ? commands : events)?.[delivery.name]
    try {
      const result: unknown = handler?.(delivery.payload as never, this)
      if (!(result instanceof Promise)) return this.#done(delivery, result)
      this.#busy = true
      result.then(
        (value: unknown) => {
          this.#busy = false
          this.#done(delivery, value)
          this.#idle()
          this.#work()
        },
        (error: unknown) => this.#fail(delivery, error),
      )
    } catch (error) {
      this.#fail(delivery, error)
    }
  }

  #fail({ seq }: Delivery, error: unknown): void {
    if (!this.alive) return
    this.#say({ type: 'ending', cause: 'crash', error: describeError(error), seq })
    this.exit(1)
  }

  #done({ seq, name, ask, skip }: Delivery, result: unknown): void {
    const recorder = this.#recorder!
    if (!this.alive || this.#hung) return
    if (!skip) this.handled.push(name)
    recorder.write(CELL.done, seq)
    if (ask > 0) {
      const column = new BodyColumnBuilder()
      column.add(encodePayload(result))
      this.#post({ type: 'flush', replies: { seqs: [seq], ...column.build() } })
    } else if (ask === AWAITED) this.#post({ type: 'flush', handled: [seq] })
    recorder.write(CELL.flushed, seq)
    const due = signedDifference(recorder.read(CELL.done), recorder.read(CELL.wakeAt)) >= 0
    if (due && Atomics.compareExchange(recorder.cells, CELL.waiting, 1, 0) === 1) this.#post(BELL)
  }
}

function deliveriesOf(batch: Batch): Delivery[] {
  const payloads = readColumn(batch)
  return payloads.map((payload, index) => ({
    seq: (batch.first + index) | 0,
    name: nameIn(batch.names, index),
    payload,
    ask: batch.asks?.[index] ?? 0,
    skip: batch.skip?.includes(index) === true,
  }))
}

/** Fake threads for the agents of a host, each behaving as the test has said by then. */
export class FakeThreads implements Threads {
  readonly #clock: Clock
  readonly #behaviours = new Map<string, FakeBehaviours>()
  readonly #threads = new Map<string, FakeThread[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How threads of the agent behave that are started from now on. */
  behave(agent: string, behaviour: FakeBehaviours): void {
    this.#behaviours.set(agent, behaviour)
  }

  take(name: string): Thread {
    const all = this.#threads.get(name) ?? []
    const incarnation = all.length + 1
    const behaviours = this.#behaviours.get(name) ?? {}
    const behaviour = typeof behaviours === 'function' ? behaviours(incarnation) : behaviours
    const thread = new FakeThread(name, incarnation, behaviour, this.#clock)
    this.#threads.set(name, [...all, thread])
    return thread
  }

  /** All threads the agent has had, the newest at the end. */
  all(agent: string): readonly FakeThread[] {
    return this.#threads.get(agent) ?? []
  }

  /**
   * The agent's newest thread.
   * @throws where it never had one
   */
  of(agent: string): FakeThread {
    const thread = this.#threads.get(agent)?.at(-1)
    if (thread === undefined) throw new Error(`agent '${agent}' has not had a thread yet`)
    return thread
  }

  /** Threads that live. */
  get alive(): readonly FakeThread[] {
    return [...this.#threads.values()].flat().filter(({ alive }) => alive)
  }
}
