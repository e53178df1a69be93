/** Plain GETs go past Hono, others through it: nobody can tell by the answer. */
import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/transports/rest/routes.ts'
import { type Answer, restHost, type Sent } from './rest-host.ts'

const GETS = ROUTES.filter(({ verb, operation }) => verb === 'GET' && operation.kind === 'call').map(({ path }) => path)

/** What is the same at two moments. */
const lasting = ({ status, headers, text }: Answer) => ({
  status,
  text: text.replaceAll(/\d+(?:\.\d+)?(?=[,}]| m?s\b)/g, 'N'),
  headers: { ...headers, date: '', 'content-length': '' },
})

const requests = (path: string, id: string): Omit<Sent, 'path'>[] => [
  {},
  { token: null },
  { token: 'holt_0123456789abcdef_rubbish' },
  { method: 'HEAD' },
  { headers: { Accept: 'application/vnd.holt.superjson+json' } },
  { headers: { 'If-Match': '"7"' } },
  { headers: { Host: 'evil.example' } },
  { body: { path, id } },
]

describe('a plain GET', () => {
  it.each(GETS)('%s is answered alike with and without a query', async (path) => {
    const { send, host } = await restHost()
    const known = host.fleet().agents[0]!.id
    for (const id of [known, 'nobody', 'UPPER_case', 'constructor', '__proto__', '1']) {
      const at = path.replaceAll(/\{\w+\}/g, id)
      for (const request of requests(path, id)) {
        const direct = await send({ ...request, path: at })
        const through = await send({ ...request, path: `${at}?` })
        expect({ at, request, ...lasting(direct) }).toEqual({ at, request, ...lasting(through) })
      }
    }
  })

  it.each(['/agents', '/agents/', '//agents', '/agents/%61', '/./agents', '/agents/a/b/c', '/AGENTS', '/nothing'])(
    '%s is found or not found as it would be with a query',
    async (path) => {
      const { send } = await restHost()
      expect(lasting(await send({ path }))).toEqual(lasting(await send({ path: `${path}?` })))
    },
  )
})
