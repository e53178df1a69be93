/**
 * The routes, on Hono: those of the table of operations, and the few that are about the server itself. Hono finds the
 * route; what happens then is in `exchange.ts`. Answers are written on Node's own response, so every handler ends in
 * `SENT`.
 */
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT as SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { HoltError } from '../../model/error.ts'
import { nearest } from '../../model/nearest.ts'
import { corsHeaders, preflightHeaders } from './doors.ts'
import { admit, answer, type ExchangeDeps } from './exchange.ts'
import { JSON_TYPE } from './form.ts'
import { openApi } from './openapi.ts'
import { problemReply } from './problem.ts'
import { type Reply, send } from './reply.ts'
import { patternOf, ROUTES } from './routes.ts'

const NOTHING = {}
type Env = { Bindings: HttpBindings }
type Asked = Context<Env>

/** Beside the table: about the server itself. */
export const OWN_PATHS = ['/healthz', '/readyz', '/metrics', '/openapi.json'] as const

export function restApp(deps: ExchangeDeps, origins: readonly string[]): Hono<Env> {
  const app = new Hono<Env>()
  const { host } = deps
  const cors = (c: Asked): Record<string, string> => {
    const origin = c.env.incoming.headers.origin
    return origin !== undefined && origins.includes(origin) ? corsHeaders(origin) : NOTHING
  }
  const own = (path: (typeof OWN_PATHS)[number], make: (c: Asked) => Reply | Promise<Reply>): void => {
    app.get(path, async (c) => {
      const { status, headers, body } = await Promise.resolve(c).then(make).catch(problemReply)
      send(c.env.outgoing, { status, headers: { ...headers, ...cors(c) }, body }, c.env.incoming.method === 'HEAD')
      return SENT
    })
  }
  own('/healthz', () => json(200, { status: 'ok' }))
  own('/readyz', () => readiness(host.stage, host.stateFault))
  own('/openapi.json', () => ({ status: 200, headers: { 'Content-Type': JSON_TYPE }, body: openApi() }))
  own('/metrics', async (c) => {
    admit(c.env.incoming.headers, 'read', deps)
    const { contentType, body } = await host.metrics.text()
    return { status: 200, headers: { 'Content-Type': contentType }, body }
  })
  for (const route of ROUTES) {
    app.on(route.verb, patternOf(route.path), async (c) => {
      const { incoming: req, outgoing: res } = c.env
      await answer(
        {
          route,
          req,
          res,
          params: c.req.param(),
          query: req.url?.includes('?') ? c.req.queries() : NOTHING,
          headers: cors(c),
        },
        deps,
      )
      return SENT
    })
  }
  app.notFound((c) => {
    const { incoming: req, outgoing: res } = c.env
    const methods = methodsOf(c.req.path)
    const reply =
      req.method === 'OPTIONS' && methods.length > 0
        ? {
            status: 204,
            headers: { Allow: methods.join(', '), ...(origins.length > 0 ? preflightHeaders(methods) : {}) },
            body: '',
          }
        : problemReply(notFound(req.method ?? '', c.req.path, methods))
    send(res, { ...reply, headers: { ...reply.headers, ...cors(c) } }, req.method === 'HEAD')
    return SENT
  })
  app.onError((error, c) => {
    send(c.env.outgoing, problemReply(error))
    return SENT
  })
  return app
}

const json = (status: number, value: unknown): Reply => ({
  status,
  headers: { 'Content-Type': JSON_TYPE },
  body: JSON.stringify(value),
})

/** Ready: every agent has settled, nobody has asked for the end, and what is asked for can be saved. */
export function readiness(stage: string, fault: { readonly code: string; readonly text: string } | null): Reply {
  if (stage === 'running' && fault === null) return json(200, { status: 'ready' })
  const why = stage === 'running' ? (fault?.text ?? '') : `the host is ${stage}`
  return json(503, { status: stage === 'running' ? 'degraded' : stage, why })
}

const PATHS = [...ROUTES.map(({ verb, path }) => ({ verb, path })), ...OWN_PATHS.map((path) => ({ verb: 'GET', path }))]
const MATCHERS = PATHS.map(({ verb, path }) => ({
  verb,
  matches: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** What a path takes; empty: there is no such path. */
function methodsOf(path: string): string[] {
  const verbs = MATCHERS.filter(({ matches }) => matches.test(path)).map(({ verb }) => verb)
  return [...new Set(verbs.flatMap((verb) => (verb === 'GET' ? ['GET', 'HEAD'] : [verb])))]
}

function notFound(method: string, path: string, allow: readonly string[]): HoltError {
  if (allow.length > 0)
    return new HoltError('MethodNotAllowed', `${path.slice(0, 80)} takes ${allow.join(', ')}, found ${method}`, {
      allow,
    })
  const close = nearest(path, new Set(PATHS.map((one) => one.path)))
  const hint = close === undefined ? 'See /openapi.json' : `Did you mean '${close}'?`
  return new HoltError('NoSuchOperation', `there is no '${path.slice(0, 80)}' here. ${hint}`, {
    ...(close === undefined ? {} : { nearest: close }),
  })
}
