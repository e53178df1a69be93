/** The OpenAPI 3.1 document, from the table of operations and its schemas. Made once, when somebody first asks. */
import { z } from 'zod'
import { VERSION } from '../../host/version.ts'
import { ERRORS } from '../../model/error.ts'
import type { Operation } from '../operation.ts'
import { SUPERJSON_TYPE } from '../packed.ts'
import * as shapes from '../shapes.ts'
import { EVENT_STREAM } from './event-stream.ts'
import { JSON_TYPE } from './form.ts'
import { PROBLEM_TYPE } from './problem.ts'
import { ROUTES, type Route } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

const SCHEMAS = '#/components/schemas/'
const refTo = (name: string): Json => ({ $ref: `${SCHEMAS}${name}` })
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

let document: string | null = null

/** As JSON text. */
export function openApi(): string {
  document ??= JSON.stringify(makeDocument())
  return document
}

function makeDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holt',
      version: VERSION,
      description:
        'The control plane of an agent host. Every path but /healthz, /readyz and /openapi.json takes a token.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: { ...pathsOf(ROUTES), ...OWN },
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'made by `holt token create`; read, control or admin' },
      },
      schemas: { ...namedShapes(), Problem: PROBLEM },
      responses: {
        Problem: {
          description: 'refused or failed; `code` says how',
          content: { [PROBLEM_TYPE]: { schema: refTo('Problem') } },
        },
      },
    },
  }
}

function pathsOf(routes: readonly Route[]): Record<string, Json> {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.verb.toLowerCase()]: operationOf(route) }
  return paths
}

function operationOf({ path, verb, operation, inPath, fields }: Route): Json {
  const { name, summary, access, rest, input } = operation
  const { properties = {}, required = [] } = plainSchema(input)
  const beside = [...fields.keys()].filter((key) => !inPath.includes(key))
  const parameters = [
    ...inPath.map((key) => parameter('path', key, properties[key], true)),
    ...(verb === 'POST' ? [] : beside.map((key) => parameter('query', key, properties[key], required.includes(key)))),
    ...headersOf(operation, verb, fields),
  ]
  const body = Object.fromEntries(beside.map((key) => [key, properties[key]]))
  return {
    operationId: path === rest?.path ? name : `${name}OfAgent`,
    summary,
    description: `Takes ${access} access.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(verb === 'POST'
      ? {
          requestBody: bodyOf(
            body,
            required.filter((key) => key in body),
          ),
        }
      : {}),
    responses: { '200': okOf(operation), default: { $ref: '#/components/responses/Problem' } },
  }
}

const parameter = (place: string, name: string, schema: unknown, required: boolean): Json => ({
  name,
  in: place,
  required,
  schema,
  // `a,b`, and not the name again for each.
  ...(place === 'query' && isList(schema) ? { style: 'form', explode: false } : {}),
})

const isList = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'items' in schema

/** Operations that send a message. */
const TRACED: readonly string[] = ['emit', 'ask']

function headersOf({ kind, name }: Operation, verb: string, fields: Route['fields']): Json[] {
  const header = (title: string, description: string): Json => ({
    ...parameter('header', title, { type: 'string' }, false),
    description,
  })
  if (kind === 'stream')
    return name === 'watch'
      ? [
          header('Last-Event-ID', 'the id of the last event that has come: what follows it is sent'),
          parameter('query', 'snapshot', { type: 'boolean' }, false),
        ]
      : []
  if (verb === 'GET') return []
  return [
    header('Idempotency-Key', 'a request that is sent again under its key is not done again'),
    ...(fields.has('ifGeneration') ? [header('If-Match', 'only where this is the ETag of the agent')] : []),
    ...(TRACED.includes(name)
      ? [header('traceparent', 'the trace that the message belongs to, as the W3C writes it')]
      : []),
  ]
}

const bodyOf = (properties: Json, required: readonly string[]): Json => ({
  required: required.length > 0,
  content: { [JSON_TYPE]: { schema: { type: 'object', properties, required, additionalProperties: false } } },
})

function okOf({ kind, output, summary, name }: Operation): Json {
  const schema = schemaOf(output, `${capital(name)}Answer`)
  if (kind === 'stream')
    return {
      description: `${summary}; each event's data is one of them`,
      content: { [EVENT_STREAM]: { schema: { type: 'string' } } },
    }
  return { description: summary, content: { [JSON_TYPE]: { schema }, [SUPERJSON_TYPE]: { schema: {} } } }
}

// --- schemas ---------------------------------------------------------------------------------------------------------

const SHAPES = Object.entries<unknown>(shapes).flatMap(([name, shape]) =>
  shape instanceof z.ZodType ? [[name, shape] as const] : [],
)
const registry = z.registry<{ id: string }>()
for (const [name, shape] of SHAPES) registry.add(shape, { id: capital(name) })
const nameOf = new Map<unknown, string>(SHAPES.map(([name, shape]) => [shape, capital(name)]))

function namedShapes(): Record<string, unknown> {
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `${SCHEMAS}${id}`, io: 'output' })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutIds(schema)]))
}

/** A named shape by its name, a list or a choice of named shapes by theirs, anything else as it is. */
function schemaOf(type: z.ZodType, title: string): unknown {
  const name = nameOf.get(type)
  if (name !== undefined) return refTo(name)
  if (type instanceof z.ZodArray) return { type: 'array', items: schemaOf(type.element as z.ZodType, title) }
  if (type instanceof z.ZodUnion) return { anyOf: type.options.map((one) => schemaOf(one as z.ZodType, title)) }
  return withoutIds(z.toJSONSchema(type, { io: 'output' }))
}

/** An input, whose fields have no names of their own. */
const plainSchema = (input: z.ZodType) => z.toJSONSchema(input, { io: 'input' })

const withoutIds = ({ $schema: _, $id: __, ...schema }: object & { $schema?: unknown; $id?: unknown }): Json => ({
  ...schema,
})

const PROBLEM: Json = {
  type: 'object',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    details: { type: 'object', additionalProperties: true },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'details'],
}

const own = (operationId: string, summary: string, open: boolean, content: Json): Json => ({
  get: {
    operationId,
    summary,
    ...(open ? { security: [] } : {}),
    responses: { '200': { description: summary, content }, default: { $ref: '#/components/responses/Problem' } },
  },
})
const OBJECT = { [JSON_TYPE]: { schema: { type: 'object', additionalProperties: true } } }

const OWN: Json = {
  '/healthz': own('healthz', 'the process answers', true, OBJECT),
  '/readyz': own('readyz', 'every agent has settled, and what is asked for can be saved', true, OBJECT),
  '/openapi.json': own('openapi', 'this document', true, OBJECT),
  '/metrics': own('metrics', 'figures for Prometheus', false, { 'text/plain': { schema: { type: 'string' } } }),
}
