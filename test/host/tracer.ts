/** The reference implementation of OpenTelemetry, with its spans kept in memory and a context that follows promises. */
import { AsyncLocalStorage } from 'node:async_hooks'
import * as api from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** As `AsyncLocalStorageContextManager`, whose package takes a later Node than Holt does. */
class Contexts implements api.ContextManager {
  readonly #storage = new AsyncLocalStorage<api.Context>()

  active(): api.Context {
    return this.#storage.getStore() ?? api.ROOT_CONTEXT
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: api.Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(context, () => run.call(self as never, ...args))
  }

  bind<T>(context: api.Context, target: T): T {
    const run = target as (...args: unknown[]) => unknown
    return ((...args: unknown[]) => this.#storage.run(context, () => run(...args))) as T
  }

  enable(): this {
    return this
  }

  disable(): this {
    this.#storage.disable()
    return this
  }
}

export interface SpanView {
  readonly name: string
  readonly kind: string
  readonly traceId: string
  readonly spanId: string
  readonly parent: string | undefined
  /** Undefined: it went well. */
  readonly error: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Registers a tracer for the tests of a file; spans of each test are its own. */
export function registeredTracer(): { spans(): SpanView[]; spanOf(name: string): SpanView } {
  const exporter = new InMemorySpanExporter()
  beforeAll(() => {
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    api.context.setGlobalContextManager(new Contexts())
    api.trace.setGlobalTracerProvider(provider)
  })
  beforeEach(() => exporter.reset())
  afterAll(() => {
    api.trace.disable()
    api.context.disable()
  })
  const spans = (): SpanView[] =>
    exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      kind: api.SpanKind[span.kind],
      ...idsOf(span.spanContext()),
      parent: span.parentSpanContext?.spanId,
      error: span.status.code === api.SpanStatusCode.ERROR ? (span.status.message ?? '') : undefined,
      attributes: span.attributes,
    }))
  const spanOf = (name: string): SpanView => {
    const found = spans().filter((span) => span.name === name)
    if (found.length === 1) return found[0]!
    throw new Error(`expected one span '${name}', found ${found.length} among ${spans().map((one) => one.name)}`)
  }
  return { spans, spanOf }
}

const idsOf = ({ traceId, spanId }: api.SpanContext) => ({ traceId, spanId })
