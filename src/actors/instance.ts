/**
 * One incarnation of an agent: its thread, the two ports, the flight recorder, and the evidence it leaves. It proves
 * identity before it may load anything, and ends once. `agent.ts` owns it and decides; this file only carries out.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { BootStep, DeathCause, Evidence } from '../model/death.ts'
import { type ErrorShape, HoltError } from '../model/error.ts'
import { CELL, FlightRecorder, signedDifference } from '../model/flight-recorder.ts'
import {
  BELL,
  type DataFromThread,
  type DataToThread,
  type FromThread,
  type ToThread,
  WIRE_VERSION,
} from '../model/wire.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import { newSecret } from '../platform/id.ts'
import { type Challenge, verify } from '../platform/proof.ts'
import { Inspection } from './inspection.ts'
import type { InstanceHooks, InstanceSpec } from './instance-spec.ts'
import type { Link } from './pump.ts'
import type { Thread } from './spawn.ts'

export type { InstanceHooks, InstanceSpec } from './instance-spec.ts'

/** Ending an idle or a looping thread takes 1 to 6 ms; one that has not ended by then is inside a native call. */
const UNKILLABLE_MS = 1000
/**
 * Node leaves a module's file open where its thread is terminated in the middle of an import (Node 20 to 26: 32 of 400 bare
 * workers), so one that boots is let come to the end of what it loads; it begins nothing after that.
 */
const LOADING_MS = 200
/** Lines that were dropped are told at most this often, and at the end. */
const LOST_EVERY_MS = 1000
const LOST_CELL = { lines: CELL.linesDropped, sends: CELL.sendsDropped } as const

export class Instance implements Link {
  readonly id: string
  readonly epoch: number
  readonly recorder: FlightRecorder
  /** Monotonic ms. */
  readonly startedAt: number
  readonly startedAtWall: number
  alive = true
  readonly inspection: Inspection
  /** What became of the challenge since it was fenced. */
  proof: 'none' | 'asked' | 'proved' | 'wrong' = 'none'
  fencedWith: readonly number[] | null = null
  readonly #spec: InstanceSpec
  readonly #hooks: InstanceHooks
  readonly #clock: Clock
  readonly #data: MessagePort
  #challenge: Challenge
  /** What it has said while it is fenced, in order; no more than window and credits allow. */
  readonly #held: DataFromThread[] = []
  /** Nothing it says is to be heard any more. */
  #shut = false
  #paused = false
  #worker: Thread | null = null
  #lent: { close(): void } | null = null
  #step: BootStep = 'thread'
  #ready = false
  #told: DeathCause | undefined
  #seen: Evidence['seen']
  #reported: Evidence['reported']
  #failedSeq: number | undefined
  #thrown: unknown
  #timer: Timer | null = null
  /** Monotonic ms by which it has to have stopped. */
  #stopBy = Number.POSITIVE_INFINITY
  #unkillable: Timer | null = null
  /** Ends it where it boots on. */
  #loading: Timer | null = null
  /** Of those that were dropped, so many have been told. */
  readonly #lost = { lines: 0, sends: 0 }
  #lostToldAt = Number.NEGATIVE_INFINITY

  constructor(spec: InstanceSpec, hooks: InstanceHooks, clock: Clock) {
    this.id = spec.id
    this.inspection = new Inspection(
      spec.agent,
      (message) => this.#control(message),
      () => this.#worker,
    )
    this.epoch = spec.epoch
    this.#spec = spec
    this.#hooks = hooks
    this.#clock = clock
    this.startedAt = clock.now()
    this.startedAtWall = clock.wall()
    const { recorder, buffer } = FlightRecorder.create(spec.concurrency)
    this.recorder = recorder
    recorder.write(CELL.heartbeat, this.startedAt | 0)
    this.#challenge = { credential: newSecret(), nonce: newSecret(), instance: spec.id, epoch: spec.epoch }
    const data = new MessageChannel()
    this.#data = data.port1
    this.#data.on('message', (message: DataFromThread) => this.#onData(message))
    this.#timer = clock.after(spec.bootTimeoutMs, () => this.#tooLate())
    this.#spawn(data.port2, buffer)
  }

  post(message: DataToThread, transfer?: ArrayBuffer[]): void {
    // An empty list to move is not free.
    if (transfer === undefined) this.#data.postMessage(message)
    else this.#data.postMessage(message, transfer)
  }

  /** Begins nothing from here on; `onPaused(n)` follows when what runs has ended. */
  pause(n: number): void {
    this.#paused = true
    this.recorder.write(CELL.pause, 1)
    this.#control({ type: 'pause', n })
  }

  resume(): void {
    this.#paused = false
    if (this.fencedWith !== null) return
    this.recorder.write(CELL.pause, 0)
    this.#control({ type: 'resume' })
  }

  /** How much of what it has said is held back. */
  get held(): number {
    return this.#held.length
  }

  /** Its lease is lost: it begins nothing more, and what it says is held back until {@link unfence}. */
  fence(): void {
    if (!this.alive || this.fencedWith !== null) return
    this.fencedWith = this.recorder.inFlight()
    this.proof = 'none'
    this.recorder.write(CELL.pause, 1)
  }

  /** It is to prove its identity again; `proof` says what came of it. */
  challenge(): void {
    this.#challenge = { ...this.#challenge, nonce: newSecret() }
    this.proof = 'asked'
    this.#control({ type: 'challenge', nonce: this.#challenge.nonce })
  }

  /** It is to be heard again: what was held back is taken, in order. */
  unfence(): void {
    if (!this.alive || this.fencedWith === null) return
    this.fencedWith = null
    this.proof = 'none'
    for (const message of this.#held.splice(0)) this.#onData(message)
    if (!this.#paused && this.#stopBy === Number.POSITIVE_INFINITY) this.resume()
  }

  abort(seqs: readonly number[] | 'all', reason: string): void {
    this.#control({ type: 'abort', seqs, reason })
  }

  /** Finish what runs, run the stop hooks, end; past `graceMs` the thread is ended with cause `late`. An earlier deadline holds. */
  stop(cause: DeathCause, graceMs: number, late: DeathCause): void {
    if (!this.alive) return
    this.#told ??= cause
    if (!this.#ready) return this.terminate(cause)
    const by = this.#clock.now() + graceMs
    if (by >= this.#stopBy) return
    this.#stopBy = by
    this.recorder.write(CELL.pause, 1)
    this.#control({ type: 'stop', graceMs })
    this.#setTimer(graceMs, () => {
      this.#told = late
      this.#kill()
    })
  }

  /** Ends the thread now. The first cause told is the one recorded, unless this one is stronger: a kill. */
  terminate(cause: DeathCause, seen?: Evidence['seen']): void {
    if (!this.alive) return
    if (this.#told === undefined || cause === 'killed') {
      this.#told = cause
      this.#seen = seen
    }
    if (this.#ready || cause === 'start_timeout') this.#kill()
    else this.#loading ??= this.#clock.after(LOADING_MS, () => this.#kill())
  }

  /** A thread that cannot be ended is waited for no longer: nothing it says is heard any more. */
  giveUp(): void {
    if (this.alive) this.#end(0)
  }

  #kill(): void {
    void this.#worker?.terminate()
    if (this.#worker === null || this.#unkillable !== null) return
    this.#unkillable = this.#clock.after(UNKILLABLE_MS, () => this.#hooks.onUnkillable(UNKILLABLE_MS))
  }

  /** It has not become ready in time; it may be blocked, or wait for what never settles. */
  #tooLate(): void {
    if (this.#told === undefined) {
      const text = `not ready within ${this.#spec.bootTimeoutMs} ms (limits.bootTimeoutMs)`
      const why = this.#step === 'roles' ? ': an import that blocks, or a top-level await that has not settled' : ''
      this.#thrown ??= new HoltError('BootFailed', `${text}${why}`)
    }
    this.terminate('start_timeout')
  }

  #setTimer(ms: number, call: () => void): void {
    this.#timer?.cancel()
    this.#timer = this.#clock.after(ms, call)
  }

  #control(message: ToThread, transfer: MessagePort[] = []): void {
    if (this.alive) this.#worker?.postMessage(message, transfer)
  }

  #spawn(data: MessagePort, recorder: SharedArrayBuffer): void {
    const { agent, concurrency, durable, env, heapMb, heartbeatMs } = this.#spec
    try {
      this.#worker = this.#spec.threads.take(agent, heapMb)
    } catch (error) {
      this.#thrown = error
      this.#clock.soon(() => this.#onExit(1))
      return
    }
    this.#worker.on('message', (message: FromThread) => this.#onControl(message))
    this.#worker.on('error', (error: unknown) => {
      this.#thrown = error
    })
    this.#worker.on('messageerror', (error) => this.#refused('thread', error))
    this.#worker.once('exit', (code) => this.#onExit(code))
    const lend = this.#lend()
    this.#control(
      {
        type: 'init',
        version: WIRE_VERSION,
        ...this.#challenge,
        agent,
        recorder,
        concurrency,
        durable,
        heartbeatMs,
        data,
        lend,
        env,
      },
      lend === null ? [data] : [data, lend],
    )
  }

  #lend(): MessagePort | null {
    if (this.#spec.lend === null) return null
    const { port1, port2 } = new MessageChannel()
    this.#lent = this.#spec.lend(port1, () => this.alive && this.fencedWith === null)
    return port2
  }

  #onControl(message: FromThread): void {
    // One that was given up.
    if (!this.alive) return
    switch (message.type) {
      case 'proof':
        return this.#onProof(message)
      case 'ready':
        if (this.#loading !== null) return this.#kill()
        this.#ready = true
        this.#timer?.cancel()
        return this.#hooks.onReady(message.roles)
      case 'refused':
        this.#reported = { cause: 'boot_failed', step: message.step, error: message.error }
        if (this.#loading !== null) this.#kill()
        return
      case 'paused':
        return this.#hooks.onPaused(message.n)
      case 'ending':
        this.#reported = { cause: message.cause, ...(message.error === undefined ? {} : { error: message.error }) }
        this.#failedSeq = message.seq
        if (message.cause === 'normal' && this.#told === undefined)
          this.#setTimer(this.#spec.stopTimeoutMs, () => this.terminate('shutdown_timeout'))
        return
      case 'lines':
        this.recorder.add(CELL.linesTaken, message.lines.length)
        this.#hooks.onOutput(message)
        this.#tellLost(LOST_EVERY_MS)
        return
      case 'profiled':
        return this.inspection.take(message)
      case 'log':
      case 'histogram':
      case 'handlers':
        this.#tellLost(LOST_EVERY_MS)
        return this.#hooks.onOutput(message)
      default:
        message satisfies never
    }
  }

  /** What found no credit in the thread since it was last told. */
  #tellLost(everyMs: number): void {
    const now = this.#clock.now()
    if (now - this.#lostToldAt < everyMs) return
    this.#lostToldAt = now
    for (const what of ['lines', 'sends'] as const) {
      const count = signedDifference(this.recorder.read(LOST_CELL[what]), this.#lost[what])
      if (count === 0) continue
      this.#lost[what] = (this.#lost[what] + count) | 0
      this.#hooks.onLost(what, count)
    }
  }

  #onProof({ version, proof }: { version: number; proof: string }): void {
    if (!this.#ready) this.#step = 'credential'
    if (this.#loading !== null) return this.#kill()
    if (this.#ready) {
      // An answer that comes when nobody has asked is no proof of anything.
      if (this.proof === 'asked') this.proof = verify(this.#challenge, proof) ? 'proved' : 'wrong'
      return
    }
    if (version !== WIRE_VERSION) {
      const text = `the thread speaks version ${version} of the wire, the host ${WIRE_VERSION}: build again`
      return this.#refused('credential', new HoltError('BootFailed', text))
    }
    if (!verify(this.#challenge, proof)) {
      const text = `the thread of instance '${this.id}' could not prove its identity`
      return this.#refused('credential', new HoltError('BootFailed', text))
    }
    this.#step = 'roles'
    this.#control({ type: 'load', roles: this.#spec.roles, mounts: this.#spec.mounts })
  }

  #refused(step: BootStep, error: Error): void {
    this.#thrown ??= error
    this.#step = step
    this.#kill()
  }

  #onData(message: DataFromThread): void {
    if (this.#shut) {
      if (message !== BELL) this.#hooks.onFenced(message)
    } else if (this.fencedWith !== null) this.#held.push(message)
    else if (message === BELL) this.#hooks.onBell()
    else this.#hooks.onFlush(message)
  }

  #onExit(exitCode: number): void {
    const givenUp = !this.alive
    if (givenUp) this.#drain()
    else this.#end(exitCode)
    this.#data.close()
    this.#lent?.close()
    this.#worker = null
    if (givenUp) this.#hooks.onGivenUpEnded()
  }

  /** What was posted just before the end is still in the port now and then; it counts. */
  #drain(): void {
    for (let left = receiveMessageOnPort(this.#data); left !== undefined; left = receiveMessageOnPort(this.#data)) {
      this.#onData(left.message as DataFromThread)
    }
  }

  /** It lives no more for its agent; the ports stay open for as long as its thread may say something. */
  #end(exitCode: number): void {
    this.alive = false
    this.#timer?.cancel()
    this.#loading?.cancel()
    this.#unkillable?.cancel()
    this.#drain()
    this.#shut = true
    for (const message of this.#held.splice(0)) this.#onData(message)
    this.#tellLost(0)
    this.inspection.end()
    this.#hooks.onEnded({
      ...(this.#told === undefined ? {} : { told: this.#told }),
      ...(this.#seen === undefined ? {} : { seen: this.#seen }),
      ...(this.#reported === undefined ? {} : { reported: this.#reported }),
      ...(this.#thrown === undefined ? {} : { thrown: this.#thrown }),
      exitCode,
      booting: !this.#ready,
      step: this.#step,
      failedSeq: this.#failedSeq,
    })
  }
}

/** Evidence with what only the instance knows. */
export type Ended = Parameters<InstanceHooks['onEnded']>[0]

/** The handler's own error and its delivery, where one ended the thread. */
export const failedDelivery = (
  ended: Ended,
  error: ErrorShape | undefined,
): { seq: number; error: ErrorShape } | undefined =>
  ended.failedSeq === undefined || error === undefined ? undefined : { seq: ended.failedSeq, error }
