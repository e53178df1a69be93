/**
 * Spans: one a message, from the call that sends it to its fate or reply. Used by `traced-inbox.ts`, and only where the
 * program has handed in a tracer. A tracer that throws loses its own spans and nothing else; the log says so once.
 */
import { isErrorCode } from '../model/error.ts'
import type { Fate, Traced } from '../model/message.ts'
import { checkedTraceparent, readTraceparent, writeTraceparent } from '../model/trace-context.ts'
import type { Logger } from '../platform/log.ts'
import {
  rootOf,
  SPAN_KIND,
  type SpanAttributes,
  STATUS_ERROR,
  type TracingApi,
  type TracingSpan,
} from './tracing-api.ts'
import { VERSION } from './version.ts'

export interface TracesParts {
  readonly tracing: TracingApi
  readonly log: Logger
  /** A text without what is not to be shown. */
  readonly hide: (text: string) => string
}

/** A message that is sent. */
export interface Sending {
  readonly agent: string
  readonly name: string
  readonly options: Traced | undefined
  /** The agent that sends it. */
  readonly from: string | undefined
}

/** Fates that an instance has brought about. */
const OF_INSTANCE: readonly Fate['fate'][] = ['handled', 'crashed', 'aborted', 'quarantined']
/** Errors of asks that no instance has begun, or of which nobody knows. */
const OF_NO_INSTANCE: readonly string[] = [
  ...['NotAccepting', 'Overloaded', 'CommandBusy', 'Aborted', 'Timeout', 'InvalidOption', 'NotCloneable'],
]

export class Traces {
  readonly #parts: TracesParts
  #told = false

  constructor(parts: TracesParts) {
    this.#parts = parts
  }

  /** Null: the tracer has failed. Attributes are those of the conventions for messaging, and Holt's own. */
  event(sending: Sending & { readonly messageId: string | undefined }): MessageSpan | null {
    const { agent, name, messageId } = sending
    return this.#begin(sending, `${name} ${agent}`, SPAN_KIND.consumer, {
      'messaging.system.name': 'holt',
      'messaging.operation.type': 'process',
      'messaging.operation.name': name,
      'messaging.destination.name': agent,
      ...(messageId === undefined ? {} : { 'messaging.message.id': messageId }),
    })
  }

  /** The end of a call that began elsewhere, at an agent's or over HTTP, or a call of this program's. */
  ask(sending: Sending): MessageSpan | null {
    const { agent, name, options } = sending
    const kind = readTraceparent(options?.traceparent) === undefined ? SPAN_KIND.client : SPAN_KIND.server
    return this.#begin(sending, `${agent}/${name}`, kind, {
      'rpc.system.name': 'holt',
      'rpc.method': `${agent}/${name}`,
    })
  }

  #begin({ agent, options, from }: Sending, title: string, kind: number, own: SpanAttributes): MessageSpan | null {
    const { tracing, hide } = this.#parts
    const attributes = { ...own, 'holt.agent': agent, ...(from === undefined ? {} : { 'holt.from': from }) }
    return this.guarded(() => {
      // What an agent sends comes out of its port, whose context says where the thread was started.
      const around = from === undefined ? tracing.context.active() : rootOf(tracing)
      const given = readTraceparent(options?.traceparent)
      const parent = given === undefined ? around : tracing.trace.setSpanContext(around as never, remote(given))
      const span = tracing.trace.getTracer('holt', VERSION).startSpan(title, { kind, attributes }, parent)
      return new MessageSpan(span, this, hide)
    })
  }

  /** Null: it has thrown. */
  guarded<T>(call: () => T): T | null {
    try {
      return call()
    } catch (error) {
      if (!this.#told) this.#parts.log.warn({ error }, 'the tracer has failed: spans are missing; said once')
      this.#told = true
      return null
    }
  }
}

const remote = ({ traceId, spanId, flags }: { traceId: string; spanId: string; flags: number }) => ({
  traceId,
  spanId,
  traceFlags: flags,
  isRemote: true,
})

/** One message on its way. Ends once, by whatever comes first. */
export class MessageSpan {
  readonly #span: TracingSpan
  readonly #traces: Traces
  readonly #hide: (text: string) => string
  /** Of the span itself; undefined where there is no tracer behind the API and no trace around it. */
  readonly #traceparent: string | undefined
  /** Somebody wants to know how it ends. */
  readonly isRecording: boolean
  #ended = false

  constructor(span: TracingSpan, traces: Traces, hide: (text: string) => string) {
    this.#span = span
    this.#traces = traces
    this.#hide = hide
    const { traceId, spanId, traceFlags } = span.spanContext()
    this.#traceparent = checkedTraceparent(writeTraceparent({ traceId, spanId, flags: traceFlags }))
    this.isRecording = span.isRecording()
  }

  /** The options of a send as it goes on: what is caused by it belongs to this span. */
  carriedBy<O extends Traced>(options: O | undefined): (O & Traced) | undefined {
    return this.#traceparent === undefined ? options : { ...(options as O), traceparent: this.#traceparent }
  }

  /** An event has its fate. @param instance the one that is there, or was last */
  ended({ fate, reason, deathId }: Fate, instance: string | undefined): void {
    const failed = fate !== 'queued' && (fate !== 'handled' || reason !== undefined)
    const text = reason ?? fate
    this.#end(failed ? text : null, {
      'holt.fate': fate,
      ...(reason === undefined ? {} : { 'holt.reason': this.#hide(reason) }),
      ...(deathId === undefined ? {} : { 'holt.death_id': deathId }),
      ...(instance === undefined || !OF_INSTANCE.includes(fate) ? {} : { 'holt.instance': instance }),
      ...(failed ? { 'error.type': fate === 'handled' ? 'handler_error' : fate } : {}),
    })
  }

  replied(instance: string | undefined): void {
    this.#end(null, instance === undefined ? {} : { 'holt.instance': instance })
  }

  /** An ask was rejected, or a send threw. */
  failed(error: unknown, instance: string | undefined): void {
    const { name = 'Error', message = String(error) } = error instanceof Error ? error : {}
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
    const type = typeof code === 'string' && isErrorCode(code) ? code : name
    const begun = instance !== undefined && !OF_NO_INSTANCE.includes(type)
    this.#end(message, { 'error.type': type, ...(begun ? { 'holt.instance': instance } : {}) })
  }

  /** @param fault null: it went well, and the status stays unset, as the conventions ask */
  #end(fault: string | null, attributes: SpanAttributes): void {
    if (this.#ended) return
    this.#ended = true
    this.#traces.guarded(() => {
      this.#span.setAttributes(attributes)
      if (fault !== null) this.#span.setStatus({ code: STATUS_ERROR, message: this.#hide(fault) })
      this.#span.end()
    })
  }
}
