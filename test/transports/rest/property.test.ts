/**
 * Whatever is sent to whichever route: an answer below 500, in one form, and a host that is none the worse. From the
 * schemas of the table, and from beside them. HOLT_REST_RUNS sets how many; the seed is printed where it fails.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FieldKind, ROUTES, type Route } from '../../../src/transports/rest/routes.ts'
import type { RestHost, Sent } from './rest-host.ts'
import { restHost } from './rest-host.ts'

const RUNS = Number(process.env['HOLT_REST_RUNS'] ?? 300)
/** They would end the host, or the test. */
const LEFT_OUT = ['shutdown', 'watch', 'logs']
const ROUTED = ROUTES.filter(({ operation }) => !LEFT_OUT.includes(operation.name))

const anything = fc.jsonValue({ maxDepth: 3 })
/** What a header may hold. */
const headerText = fc.stringMatching(/^[\x20-\x7e]{0,40}$/)
const ids = fc.constantFrom(
  'hand',
  'reader',
  'sleeper',
  'broken',
  'root',
  'readers',
  'hnad',
  '1',
  '..',
  '%2e',
  '__proto__',
  '',
)

const near: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  text: fc.oneof(fc.constantFrom('ping', 'note', 'hand', '/nowhere', ''), fc.string()),
  number: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.double(), fc.constantFrom(-1, 1e300, Number.MAX_SAFE_INTEGER)),
  truth: fc.boolean(),
  list: fc.array(fc.string()),
}

const fieldsOf = ({ fields, inPath }: Route): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    Object.fromEntries(
      [...fields]
        .filter(([key]) => !inPath.includes(key))
        .map(([key, kind]) => [
          key,
          fc.oneof({ arbitrary: near[kind], weight: 4 }, { arbitrary: anything, weight: 1 }),
        ]),
    ),
    { requiredKeys: [] },
  )

const pathOf = (route: Route): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ arbitrary: ids, weight: 6 }, { arbitrary: fc.string({ unit: 'binary' }), weight: 1 }), {
      minLength: route.inPath.length,
      maxLength: route.inPath.length,
    })
    .map((parts) => {
      let next = 0
      return route.path.replaceAll(/\{\w+\}/g, () => encoded(parts[next++]!))
    })

/** A lone half of a pair has no encoding. */
const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''))
const queryText = (fields: Record<string, unknown>): string =>
  Object.entries(fields)
    .map(
      ([key, value]) => `${encoded(key)}=${encoded(typeof value === 'string' ? value : String(JSON.stringify(value)))}`,
    )
    .join('&')

const bodies = (route: Route): fc.Arbitrary<Pick<Sent, 'body' | 'headers'>> =>
  fc.oneof(
    { arbitrary: fieldsOf(route).map((body) => ({ body: body as unknown })), weight: 6 },
    { arbitrary: anything.map((body) => ({ body: JSON.stringify(body), headers: JSON_HEADER })), weight: 1 },
    { arbitrary: fc.string().map((body) => ({ body, headers: JSON_HEADER })), weight: 1 },
    {
      arbitrary: fc.tuple(fc.string(), headerText).map(([body, type]) => ({ body, headers: { 'Content-Type': type } })),
      weight: 1,
    },
    {
      arbitrary: fieldsOf(route).map((json) => ({
        body: JSON.stringify({ json, meta: { values: ['Date'] } }),
        headers: RICH,
      })),
      weight: 1,
    },
  )
const JSON_HEADER = { 'Content-Type': 'application/json' }
const RICH = { 'Content-Type': 'application/vnd.holt.superjson+json' }

const requests: fc.Arbitrary<Sent> = fc.constantFrom(...ROUTED).chain((route) =>
  fc
    .record({
      path: pathOf(route),
      query: fc.oneof(
        { arbitrary: fc.constant(''), weight: 2 },
        { arbitrary: fieldsOf(route).map(queryText), weight: 3 },
        { arbitrary: fc.string().map(encoded), weight: 1 },
      ),
      said: route.verb === 'GET' ? fc.constant<Pick<Sent, 'body' | 'headers'>>({}) : bodies(route),
      extra: fc.dictionary(fc.constantFrom('If-Match', 'Idempotency-Key', 'Accept', 'Last-Event-ID'), headerText, {
        maxKeys: 2,
      }),
    })
    .map(({ path, query, said, extra }) => ({
      method: route.verb,
      path: query === '' ? path : `${path}?${query}`,
      body: said.body,
      headers: { ...extra, ...said.headers },
    })),
)

/** Statuses of the table from 500 on that say something of an agent or the time, and nothing of a fault in the server. */
const TOLD: readonly number[] = [502, 503, 504]

async function isWell({ get, post }: RestHost): Promise<void> {
  expect((await get('/healthz')).json).toEqual({ status: 'ok' })
  const { json } = await get('/agents/reader')
  if (json['phase'] !== 'ACTIVE') await post('/agents/reader/start')
  expect((await get('/fleet')).status).toBe(200)
}

describe('every route', () => {
  it('has an answer to whatever is sent', async () => {
    const rest = await restHost({ limits: { perSecond: 1e6, burst: 1e6 } })
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        const answer = await rest.send(sent)
        const told = TOLD.includes(answer.status) && answer.json['code'] !== 'Internal'
        if (answer.status >= 500 && !told) throw new Error(`${answer.status}: ${answer.text}`)
        if (answer.status < 400) return
        expect(answer.headers['content-type']).toBe('application/problem+json')
        expect(answer.json).toMatchObject({
          code: expect.any(String),
          detail: expect.any(String),
          title: expect.any(String),
        })
        expect(answer.text).not.toContain(import.meta.dirname)
      }),
      { numRuns: RUNS },
    )
    await isWell(rest)
  })
})
