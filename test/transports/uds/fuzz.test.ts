/**
 * Anything over several connections at once: valid requests in both forms, changed ones, noise, cut anywhere, ended in
 * every way. `HOLT_FUZZ` says how many inputs (5,000), `HOLT_FUZZ_SEED` repeats a run; the seed is printed.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import type { RawClient } from '../raw-client.ts'
import { type OnSocket, onSocket } from './on-socket.ts'

const INPUTS = Number(process.env['HOLT_FUZZ'] ?? 5000)
const SEED = Number(process.env['HOLT_FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const CLIENTS = 4
const INPUTS_EACH = 16
const LINE_BYTES = 4096

/** A well-formed request has a token, which its answer has too, and no other. */
type Input =
  | { readonly kind: 'line' | 'rpc' | 'batch'; readonly method: 'echo' | 'soon'; readonly text: string }
  | { readonly kind: 'watch' | 'follow' }
  | { readonly kind: 'changed'; readonly base: number; readonly changes: readonly (readonly [number, number])[] }
  | { readonly kind: 'noise'; readonly bytes: Uint8Array }
  | { readonly kind: 'overlong' }

interface Played {
  readonly inputs: readonly Input[]
  /** Where the bytes are cut. */
  readonly cuts: readonly number[]
  /** How it ends once all is sent: its side only, with a line that is not whole, or at once and altogether. */
  readonly end: 'end' | 'half' | 'destroy'
}

const methods = fc.constantFrom('echo' as const, 'soon' as const)
const input: fc.Arbitrary<Input> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('line', 'rpc', 'batch'),
      method: methods,
      text: fc.string({ unit: 'binary' }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('watch' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('changed' as const),
      base: fc.nat(5),
      changes: fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('noise' as const), bytes: fc.uint8Array({ maxLength: 200 }) }),
  },
)
/** These take the connection, or end it: what comes after them has no answer of its own. */
const last: fc.Arbitrary<Input> = fc.constantFrom({ kind: 'follow' }, { kind: 'overlong' })
const played: fc.Arbitrary<Played> = fc
  .tuple(
    fc.array(input, { minLength: INPUTS_EACH - 1, maxLength: INPUTS_EACH - 1 }),
    fc.oneof({ weight: 6, arbitrary: input }, { weight: 1, arbitrary: last }),
    fc.array(fc.nat(), { maxLength: 30 }),
    fc.constantFrom('end' as const, 'half' as const, 'destroy' as const),
  )
  .map(([inputs, end, cuts, how]) => ({ inputs: [...inputs, end], cuts, end: how }))

const BASES = [
  '{"cmd":"echo","args":["x"],"opts":{"a":1},"who":"me"}',
  '{"jsonrpc":"2.0","id":"x","method":"echo","params":["x"]}',
  '[{"jsonrpc":"2.0","id":1,"method":"watch"},{"jsonrpc":"2.0","method":"soon"},{"jsonrpc":"2.0","id":2,"method":"bug"}]',
  '{"jsonrpc":"2.0","id":3,"method":"unsubscribe","params":[1]}',
  '{"cmd":"\\u0065cho","args":["\\ud83d\\ude00"]}',
  '{"cmd":"refuse"}',
]

function bytesOf(one: Input, token: string): Buffer {
  switch (one.kind) {
    case 'line':
      return lineOf({ cmd: one.method, args: [{ token, text: one.text }] })
    case 'rpc':
      return lineOf(rpc(one.method, token, [one.text]))
    case 'batch':
      return lineOf([rpc(one.method, token, [one.text]), rpc('echo', undefined, []), 7])
    case 'watch':
      return lineOf(rpc('watch', token, []))
    case 'follow':
      return lineOf({ cmd: 'watch' })
    case 'overlong':
      return Buffer.alloc(LINE_BYTES + 1, 'x')
    case 'noise':
      return Buffer.concat([one.bytes, Buffer.from('\n')])
    case 'changed': {
      const bytes = Buffer.from(BASES[one.base]!)
      for (const [at, byte] of one.changes) bytes[at % bytes.length] = byte
      return Buffer.concat([bytes, Buffer.from('\n')])
    }
  }
}

const rpc = (method: string, id: string | undefined, params: readonly unknown[]) => ({
  jsonrpc: '2.0',
  method,
  id,
  params,
})
const lineOf = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

interface Sent {
  readonly client: RawClient
  readonly tokens: readonly string[]
  readonly play: Played
}

/** Sends all of it in its pieces, a turn apart, so that the connections interleave. */
async function send(client: RawClient, play: Played, name: string): Promise<Sent> {
  const parts = play.inputs.map((one, n) => bytesOf(one, `${name}.${n}!`))
  const whole = Buffer.concat([...parts, ...(play.end === 'half' ? [Buffer.from('{"cmd":"ec')] : [])])
  const cuts = [...new Set(play.cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b)
  for (const [n, end] of [...cuts, whole.length].entries()) {
    client.send(whole.subarray(cuts[n - 1] ?? 0, end))
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (play.end === 'destroy') client.socket.destroy()
  else client.socket.end()
  const tokens = play.inputs.flatMap(({ kind }, n) =>
    ['line', 'rpc', 'batch', 'watch'].includes(kind) ? [`${name}.${n}!`] : [],
  )
  return { client, tokens, play }
}

const countOf = ({ client }: Sent, token: string): number =>
  client.lines.reduce((count, line) => count + line.split(JSON.stringify(token)).length - 1, 0)

async function answeredOnce(sent: Sent): Promise<void> {
  const { client, tokens, play } = sent
  if (play.end !== 'destroy') {
    await eventually(
      () => client.ended || client.closed || tokens.every((token) => countOf(sent, token) > 0),
      () => `the answers to ${tokens.filter((token) => countOf(sent, token) === 0)}`,
    )
  }
  const most = tokens.map((token) => countOf(sent, token))
  expect(most.filter((count) => count > 1)).toEqual([])
  if (play.end !== 'destroy') expect(most).toEqual(tokens.map(() => 1))
  for (const line of client.lines) JSON.parse(line)
}

async function nothingIsLeft({ server, service, client, clock }: OnSocket): Promise<void> {
  await eventually(() => {
    clock.advance(1000)
    return server.connections === 0 && service.open === 0
  }, 'no connection and no subscription')
  const fresh = client().send({ cmd: 'echo', args: ['fresh'] })
  expect(await fresh.answered(1)).toEqual([{ ok: true, result: 'fresh' }])
  fresh.socket.destroy()
  await eventually(() => server.connections === 0, 'no connection')
}

it('whatever clients send: requests are answered once each, nothing is left, and the next client is answered', {
  timeout: 60_000 + INPUTS * 20,
}, async () => {
  process.stdout.write(`fuzz of the socket: ${INPUTS} inputs, HOLT_FUZZ_SEED=${SEED}\n`)
  const on = await onSocket({ limits: { lineBytes: LINE_BYTES, inWork: 8, subscriptions: 4 } })
  const timers = on.clock.timers
  let round = 0
  const runs = Math.ceil(INPUTS / (CLIENTS * INPUTS_EACH))
  await fc.assert(
    fc.asyncProperty(fc.array(played, { minLength: CLIENTS, maxLength: CLIENTS }), async (plays) => {
      round++
      const sending = plays.map((play, n) => send(on.client(), play, `${round}.${n}`))
      on.service.facts.next({ seq: round })
      for (const sent of await Promise.all(sending)) {
        await answeredOnce(sent)
        sent.client.socket.destroy()
      }
      await nothingIsLeft(on)
      expect(on.clock.timers).toBe(timers)
      expect(on.service.facts.observed).toBe(false)
      on.service.asked.length = 0
    }),
    { seed: SEED, numRuns: runs },
  )
})
