/** The header `traceparent`: the message that a request sends belongs to the trace of the request. */
import { describe, expect, it } from 'vitest'
import { AT_ONCE, role } from '../../fleet-on-disk.ts'
import { restHost } from './rest-host.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

const NOTES = role(
  `events: { note(_, ctx) { noted.push(ctx.traceparent ?? 'none') } },
  commands: { noted: { handle: () => noted }, own: { handle: (_, ctx) => ctx.traceparent ?? 'none' } }`,
  'const noted: string[] = []',
)

const noting = () => restHost({ fleet: { agents: { notes: { role: NOTES, manifest: AT_ONCE } } } })

describe('a request with a traceparent', () => {
  it('sends an event and an ask of its trace', async () => {
    const { post } = await noting()
    const headers = { traceparent: PARENT }
    await post('/agents/notes/events', { event: 'note' }, headers)
    await post('/agents/notes/events', { event: 'note' })
    expect((await post('/agents/notes/ask', { command: 'noted' })).json).toEqual([PARENT, 'none'])
    expect((await post('/agents/notes/ask', { command: 'own' }, headers)).json).toBe(PARENT)
  })

  it.each(['rubbish', '', PARENT.toUpperCase(), `ff-${TRACE}-00f067aa0ba902b7-01`, `${PARENT}, ${PARENT}`])(
    'that is wrong (%j) is answered as one without',
    async (traceparent) => {
      const { post } = await noting()
      expect(await post('/agents/notes/ask', { command: 'own' }, { traceparent })).toMatchObject({
        status: 200,
        json: 'none',
      })
    },
  )

  it('sent again under its key with another trace is the same request', async () => {
    const { post } = await noting()
    const key = { 'Idempotency-Key': 'once' }
    await post('/agents/notes/events', { event: 'note' }, { ...key, traceparent: PARENT })
    const again = await post(
      '/agents/notes/events',
      { event: 'note' },
      { ...key, traceparent: `${PARENT.slice(0, -2)}00` },
    )
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } })
    expect((await post('/agents/notes/ask', { command: 'noted' })).json).toEqual([PARENT])
  })
})
