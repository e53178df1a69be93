/**
 * One delivery, from table of handlers to reply: finds the handler, checks the input, runs it, and turns its end into a
 * reply, a fate or a death. Each delivery completes exactly once, or the thread dies with it in flight.
 */
import { describeError, HoltError } from '../model/error.ts'
import { CELL } from '../model/flight-recorder.ts'
import { countCall, countError } from '../model/handler-counts.ts'
import { AWAITED } from '../model/wire.ts'
import { monotonicMs } from '../platform/clock.ts'
import type { ContextFactory, HandlerContext } from './context.ts'
import type { Delivery } from './deliveries.ts'
import type { LoopParts } from './loop.ts'
import type { CommandDefinition, SchemaResult } from './role.ts'
import type { Roles } from './roles.ts'

/** Told once per delivery; `inline`: before `invoke` has returned. */
type Complete = (seq: number, slot: number, inline: boolean) => void

/**
 * What runs in one slot, one delivery after the other: a message costs neither an object nor two functions of its own.
 * A promise settles once, and the slot is not free before.
 */
interface Run {
  readonly slot: number
  delivery: Delivery
  ctx: HandlerContext | null
  /** Where its handler is counted. */
  at: number
  /** When it began, where it is measured. */
  began: number | null
  continues: boolean
  readonly onValue: (value: unknown) => void
  readonly onError: (error: unknown) => void
}

/** In a slot that is free. */
const NONE: Delivery = {
  seq: 0,
  name: '',
  payload: undefined,
  ask: 0,
  expires: 0,
  skip: false,
  traceparent: '',
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

/** By its mark and not its class: each bundle of a role has a class of its own. What cannot be looked at is no answer. */
function isAnswer(error: unknown): boolean {
  try {
    return error instanceof Error && (error.name === 'CommandError' || error instanceof RefusedInput)
  } catch {
    return false
  }
}

/** The input of this very delivery; the `InvalidInput` of another agent, thrown on by a handler, is no answer of its own. */
class RefusedInput extends HoltError {}

export class Invoker {
  readonly #roles: Roles
  readonly #contexts: ContextFactory
  readonly #parts: LoopParts
  readonly #complete: Complete
  readonly #runs: Run[] = []
  #inline = false

  constructor(roles: Roles, contexts: ContextFactory, parts: LoopParts, complete: Complete) {
    this.#roles = roles
    this.#contexts = contexts
    this.#parts = parts
    this.#complete = complete
  }

  /** Runs a delivery. The context of a handler that is still running, or null when it has completed. */
  invoke(delivery: Delivery, slot: number, measured: boolean, gone: string | undefined): HandlerContext | null {
    if (delivery.skip || gone !== undefined || (delivery.expires !== 0 && delivery.expires <= monotonicMs())) {
      return this.#unrun(delivery, slot, gone)
    }
    const isAsk = delivery.ask > 0
    const entry = isAsk ? this.#roles.commands.get(delivery.name) : this.#roles.events.get(delivery.name)
    if (entry === undefined) return this.#unknown(delivery, slot, isAsk)
    const ctx = this.#contexts.make(delivery.seq, delivery.name, isAsk ? delivery.ask : null, delivery.traceparent)
    const began = measured ? monotonicMs() : null
    const run = this.#begin(slot, delivery, ctx, entry, began)
    countCall(this.#roles.counts, entry.at)
    this.#inline = true
    let result: unknown
    let continuing: boolean
    try {
      result = 'command' in entry ? this.#command(entry.command, delivery, ctx) : entry.run(delivery.payload, ctx)
      continuing = isThenable(result)
    } catch (error) {
      this.#failed(run, error)
      this.#inline = false
      return null
    }
    if (!continuing) {
      this.#succeeded(run, result)
      this.#inline = false
      return null
    }
    this.#inline = false
    // Not by its own `then`: one that calls back at once, or twice, would end the delivery while it begins, or twice.
    Promise.resolve(result).then(run.onValue, run.onError)
    return ctx
  }

  #begin(
    slot: number,
    delivery: Delivery,
    ctx: HandlerContext,
    { at, continues }: { readonly at: number; readonly continues: boolean },
    began: number | null,
  ): Run {
    const run = this.#runs[slot]
    if (run === undefined) {
      const made: Run = {
        slot,
        delivery,
        ctx,
        at,
        began,
        continues,
        onValue: (value) => this.#succeeded(made, value),
        onError: (error) => this.#failed(made, error),
      }
      this.#runs[slot] = made
      return made
    }
    run.delivery = delivery
    run.ctx = ctx
    run.at = at
    run.began = began
    run.continues = continues
    return run
  }

  /** The roles' stop hooks, the last loaded first; the first error is thrown when all have run. */
  async runStops(): Promise<void> {
    const errors: unknown[] = []
    for (const stop of [...this.#roles.stops].reverse()) {
      try {
        await stop(this.#contexts.make(0, 'stop', null, ''))
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  #command(command: CommandDefinition<unknown, unknown>, delivery: Delivery, ctx: HandlerContext): unknown {
    if (command.input === undefined) return command.handle(delivery.payload, ctx)
    const checked = command.input['~standard'].validate(delivery.payload)
    if (isThenable(checked))
      return Promise.resolve(checked).then((result) => command.handle(accepted(delivery.name, result), ctx))
    return command.handle(accepted(delivery.name, checked as SchemaResult<unknown>), ctx)
  }

  #succeeded(run: Run, value: unknown): void {
    const { delivery } = run
    if (run.began !== null) this.#parts.histograms.record(delivery.name, monotonicMs() - run.began)
    if (delivery.ask > 0) this.#reply(delivery.seq, value)
    else if (delivery.ask === AWAITED) this.#parts.outbox.handled(delivery.seq)
    this.#done(run)
  }

  #reply(seq: number, value: unknown): void {
    try {
      this.#parts.outbox.reply(seq, value)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#parts.outbox.fail(seq, describeError(new HoltError('NotCloneable', `reply could not be cloned: ${why}`)))
    }
  }

  /** An answer, an abort, a role that goes on, or a death. */
  #failed(run: Run, error: unknown): void {
    const { delivery } = run
    const aborted = run.ctx?.aborted
    countError(this.#roles.counts, run.at)
    if (aborted === undefined && !isAnswer(error) && !run.continues) {
      this.#parts.fatal(error, delivery.seq)
    }
    this.#parts.recorder.add(CELL.failed, 1)
    const shape = describeError(aborted ?? error)
    const { seq, name } = delivery
    if (delivery.ask > 0) this.#parts.outbox.fail(seq, shape)
    else this.#parts.outbox.outcome({ seq, name, fate: aborted === undefined ? 'failed' : 'aborted', error: shape })
    this.#done(run)
  }

  #unknown(delivery: Delivery, slot: number, isAsk: boolean): null {
    const { seq, name, payload } = delivery
    if (isAsk) {
      const known = [...this.#roles.commands.keys()].join(', ') || 'none'
      const text = `agent '${this.#contexts.init.agent}' has no command '${name}'. Commands: ${known}`
      this.#parts.outbox.fail(seq, describeError(new HoltError('NoSuchCommand', text)))
    } else this.#parts.outbox.outcome({ seq, name, payload, fate: 'ignored' })
    return this.#unrunDone(delivery, slot)
  }

  #unrun(delivery: Delivery, slot: number, gone: string | undefined): null {
    const { seq, name, payload } = delivery
    // A hole was settled when it was withdrawn.
    if (delivery.skip) return this.#unrunDone(delivery, slot)
    if (delivery.ask > 0) this.#parts.outbox.fail(seq, describeError(new HoltError('Aborted', gone ?? 'expired')))
    else this.#parts.outbox.outcome({ seq, name, payload, fate: gone === undefined ? 'expired' : 'aborted' })
    return this.#unrunDone(delivery, slot)
  }

  #unrunDone({ seq }: Delivery, slot: number): null {
    this.#complete(seq, slot, true)
    return null
  }

  #done(run: Run): void {
    const { seq } = run.delivery
    // What a message brought is not held on to until the next one comes.
    run.delivery = NONE
    run.ctx = null
    this.#complete(seq, run.slot, this.#inline)
  }
}

/** @throws HoltError `InvalidInput` naming each field */
function accepted(command: string, result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value
  const faults = result.issues.map(({ message, path = [] }) => {
    const field = path
      .map((part) => String(typeof part === 'object' && part !== null ? (part as { key: unknown }).key : part))
      .join('.')
    return field === '' ? message : `${field}: ${message}`
  })
  throw new RefusedInput('InvalidInput', `input of '${command}': ${faults.join('; ')}`, { faults })
}
