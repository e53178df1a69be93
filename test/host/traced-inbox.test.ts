/** The inbox of a traced agent: what it asks of the thread, which is nothing where nobody records. */
import * as api from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { tracedInbox } from '../../src/host/traced-inbox.ts'
import { Traces } from '../../src/host/traces.ts'
import { createLog } from '../../src/platform/log.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { TestedInbox } from '../actors/tested-inbox.ts'
import { registeredTracer } from './tracer.ts'

registeredTracer()

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

const traced = (tracing = api) =>
  new TestedInbox({}, tracedInbox(new Traces({ tracing, log: createLog('silent'), hide: (text) => text }))).activate()

describe('a batch of a traced agent', () => {
  it('has the span of each message, and asks for the end of each', async () => {
    const { inbox, thread } = traced()
    inbox.tell('e', 1)
    inbox.tell('e', 2, { traceparent: `00-${TRACE}-${SPAN}-01` })
    await nextTurn()
    const [batch] = thread.batches
    expect(batch!.asks).toEqual([-1, -1])
    expect(batch!.traces).toEqual([
      expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      expect.stringMatching(new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-01$`)),
    ])
  })

  it('asks for no end where the trace is not recorded', async () => {
    const { inbox, thread } = traced()
    inbox.tell('e', 1, { traceparent: `00-${TRACE}-${SPAN}-00` })
    await nextTurn()
    expect(Object.keys(thread.batches[0]!)).not.toContain('asks')
    expect(thread.batches[0]!.traces).toEqual([expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))])
  })

  it('is that of one that is not traced where there is no tracer behind the API', async () => {
    const none = { ...api.trace, getTracer: () => new api.ProxyTracerProvider().getTracer('none') }
    const { inbox, thread } = traced({ ...api, trace: none as unknown as typeof api.trace })
    inbox.tell('e', 1)
    await nextTurn()
    expect(Object.keys(thread.batches[0]!).sort()).toEqual(['count', 'first', 'names', 'text', 'type'])
  })
})
