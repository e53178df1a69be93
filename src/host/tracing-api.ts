/**
 * The part of `@opentelemetry/api` that Holt uses, as types of its own: a program hands in the module it has registered
 * its tracer with, and a fleet without one needs no such package. Checked at the door by `options.ts`.
 */

/** What a span has to say of itself. */
export interface SpanIdentity {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

export type SpanAttributes = Record<string, string | number | boolean>

export interface TracingSpan {
  spanContext(): SpanIdentity
  isRecording(): boolean
  setAttributes(attributes: SpanAttributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

export interface TracingTracer {
  startSpan(name: string, options: { kind: number; attributes: SpanAttributes }, context: unknown): TracingSpan
}

/** `import * as api from '@opentelemetry/api'`, version 1. Contexts are handed back as they came. */
export interface TracingApi {
  readonly trace: {
    getTracer(name: string, version?: string): TracingTracer
    setSpanContext(context: never, identity: SpanIdentity & { isRemote: boolean }): unknown
    deleteSpan(context: never): unknown
  }
  readonly context: {
    active(): unknown
    bind<T>(context: never, target: T): T
  }
}

/** Fixed by the API for all versions 1. */
export const SPAN_KIND = { server: 1, client: 2, consumer: 4 } as const
export const STATUS_ERROR = 2

/** Whether this is the module, or what is like it. */
export function isTracingApi(given: unknown): given is TracingApi {
  const has = (name: string, methods: readonly string[]): boolean => {
    const part: unknown = Reflect.get(given as object, name)
    return typeof part === 'object' && part !== null && methods.every((m) => typeof Reflect.get(part, m) === 'function')
  }
  if (typeof given !== 'object' || given === null) return false
  return has('trace', ['getTracer', 'setSpanContext', 'deleteSpan']) && has('context', ['active', 'bind'])
}

/** The active context without the span in it: what begins here belongs to no trace. */
export const rootOf = ({ trace, context }: TracingApi): unknown => trace.deleteSpan(context.active() as never)

/**
 * Runs what opens a host outside of all spans: timers and ports keep the context they were made in, and whatever came of
 * them later would belong to the span in which the host was opened.
 */
export function outsideSpans<T>(tracing: unknown, run: () => T): T {
  let outside = run
  try {
    if (isTracingApi(tracing)) outside = tracing.context.bind(rootOf(tracing) as never, run)
  } catch {
    // A tracer that throws harms nobody; it is told of with the first span.
  }
  return outside()
}
