/**
 * The table of operations as routes, and what a request to one of them says, as the input of its operation. Pure: what is
 * in the path, the query, the body and the headers becomes one object, which the operation's schema then checks.
 */
import { z } from 'zod'
import { HoltError } from '../../model/error.ts'
import type { Operation } from '../operation.ts'
import { OPERATIONS } from '../operations.ts'

export type Verb = 'GET' | 'POST' | 'DELETE'

export interface Route {
  readonly verb: Verb
  /** With parts in braces. */
  readonly path: string
  readonly operation: Operation
  /** How each field of the input is written in a query. */
  readonly fields: ReadonlyMap<string, FieldKind>
  /** Fields that the path has. */
  readonly inPath: readonly string[]
}

export type FieldKind = 'text' | 'number' | 'truth' | 'list'

const KINDS: Readonly<Record<string, FieldKind>> = {
  integer: 'number',
  number: 'number',
  boolean: 'truth',
  array: 'list',
}

export const ROUTES: readonly Route[] = OPERATIONS.flatMap((operation) => {
  const { rest } = operation
  if (rest === null) return []
  return [rest.path, ...(rest.agentPath === undefined ? [] : [rest.agentPath])].map((path) => ({
    verb: rest.verb,
    path,
    operation,
    fields: fieldsOf(operation),
    inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key!),
  }))
})

function fieldsOf({ input }: Operation): ReadonlyMap<string, FieldKind> {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input' })
  return new Map(
    Object.entries(properties).map(([key, schema]) => [
      key,
      KINDS[typeof schema === 'object' ? String(schema.type) : ''] ?? 'text',
    ]),
  )
}

/** As a router has it. */
export const patternOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

export interface Said {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, readonly string[]>>
  /** What the body says; undefined: it has none. */
  readonly body?: unknown
  readonly ifMatch?: string | undefined
}

/** Fields that may stand in the query of a request with a body. */
const BESIDE_BODY: readonly string[] = ['dryRun']

/** @throws HoltError `InvalidInput`, `BadRequest` */
export function inputOf(route: Route, { params, query, body, ifMatch }: Said): Record<string, unknown> {
  const asked = Object.entries(query).map(([key, values]) => [key, read(route, key, values)] as const)
  const outOfPlace = route.verb === 'POST' ? asked.filter(([key]) => !BESIDE_BODY.includes(key)) : []
  if (outOfPlace.length > 0) {
    const names = outOfPlace.map(([key]) => key.slice(0, 40)).join(', ')
    throw refused(`${names}: expected in the body, found in the query`)
  }
  if (asked.length === 0 && body === undefined && ifMatch === undefined) return { ...params }
  const generation = ifMatch === undefined ? [] : conditionOf(route, ifMatch)
  const input: Record<string, unknown> = Object.create(null)
  const parts = [Object.entries(params), asked, Object.entries(objectOf(body)), generation]
  for (const [key, value] of parts.flat()) {
    if (key in input) throw refused(`${key.slice(0, 40)}: given twice`)
    input[key] = value
  }
  return { ...input }
}

function objectOf(body: unknown): object {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw refused(
    `expected a JSON object in the body, found ${Array.isArray(body) ? 'a list' : String(body).slice(0, 40)}`,
  )
}

/** What cannot be read as it should stays a text: the schema says what was expected. */
function read({ fields }: Route, key: string, values: readonly string[]): unknown {
  const kind = fields.get(key) ?? 'text'
  if (kind === 'list') return values.flatMap((value) => value.split(','))
  if (values.length > 1) throw refused(`${key.slice(0, 40)}: given twice`)
  const text = values[0]!
  if (kind === 'number') return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  if (kind === 'truth') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/** `If-Match: "7"`, as an `ETag` was given. */
function conditionOf({ fields }: Route, ifMatch: string): (readonly [string, unknown])[] {
  if (!fields.has('ifGeneration')) throw new HoltError('BadRequest', 'If-Match: this operation takes no condition')
  if (ifMatch.trim() === '*') return []
  const [, digits] = /^(?:W\/)?"(\d{1,15})"$/.exec(ifMatch.trim()) ?? []
  if (digits !== undefined) return [['ifGeneration', Number(digits)]]
  throw new HoltError('BadRequest', `If-Match: expected one ETag as it was given, found '${ifMatch.slice(0, 40)}'`)
}

/** Where an answer is of an agent, its generation: what `If-Match` compares. */
export function etagOf(value: unknown): string | undefined {
  const generation = typeof value === 'object' && value !== null ? Reflect.get(value, 'generation') : undefined
  return Number.isSafeInteger(generation) ? `"${String(generation)}"` : undefined
}

const refused = (text: string): HoltError => new HoltError('InvalidInput', text)
