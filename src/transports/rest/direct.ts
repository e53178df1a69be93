/**
 * The plain GETs of the table, answered on Node's own request and response: making a `Request` of one and a `Response` of
 * the other costs as much as all the rest of an answer. Hono's router finds the route, and the exchange is the same as for
 * every other request; whatever is not plain in a path, has a query or an origin goes through Hono.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { TrieRouter } from 'hono/router/trie-router'
import { answer, type ExchangeDeps } from './exchange.ts'
import { patternOf, ROUTES, type Route } from './routes.ts'

/** Nothing to decode and nothing to normalise. */
const PLAIN = /^\/(?:[\w-]+(?:\/[\w-]+)*)?$/
const NOTHING = {}

/** Answers what it can, and says whether it did. */
export function directGets(deps: ExchangeDeps): (req: IncomingMessage, res: ServerResponse) => boolean {
  const router = new TrieRouter<Route>()
  for (const route of ROUTES)
    if (route.verb === 'GET' && route.operation.kind === 'call') router.add('GET', patternOf(route.path), route)
  return (req, res) => {
    const { method, url = '', headers } = req
    if (method !== 'GET' || headers.origin !== undefined || !PLAIN.test(url)) return false
    const [matches] = router.match('GET', url) as [[Route, Readonly<Record<string, string>>][]]
    const found = matches[0]
    if (found === undefined) return false
    void answer({ route: found[0], req, res, params: found[1], query: NOTHING, headers: NOTHING }, deps)
    return true
  }
}
