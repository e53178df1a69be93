/**
 * From what a caller wrote to the input of an operation: positional arguments and options become one object, and the
 * object is checked. Pure. Called by every transport before an operation is run; refusals name the field and the usage.
 */
import type { z } from 'zod'
import { HoltError } from '../model/error.ts'
import { nearest } from '../model/nearest.ts'
import type { Operation } from './operation.ts'

/** How an operation is called, for people: its name, and what follows. */
export const usageOf = ({ name, cli }: Operation): string => (cli === null || cli === '' ? name : `${name} ${cli}`)

/**
 * The input object of these arguments and options. What is undefined counts as left out.
 * @throws HoltError `InvalidInput` for too many arguments, or one that is given twice
 */
export function bindArgs(
  operation: Operation,
  args: readonly unknown[],
  opts: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { positional } = operation
  if (args.length > positional.length) {
    const most = positional.length === 0 ? 'no arguments' : `${positional.length} at most (${positional.join(', ')})`
    throw refused(operation, [`expected ${most}, found ${args.length}`])
  }
  const bound = positional.flatMap((key, index) => (args[index] === undefined ? [] : [[key, args[index]] as const]))
  const options = Object.entries(opts).filter(([, value]) => value !== undefined)
  const twice = bound.map(([key]) => key).filter((key) => options.some(([option]) => option === key))
  if (twice.length > 0)
    throw refused(
      operation,
      twice.map((key) => `${key}: given twice, as an argument and as an option`),
    )
  return Object.fromEntries([...bound, ...options])
}

/**
 * The input, checked against the operation's schema.
 * @throws HoltError `InvalidInput` naming each field, what was expected, and the usage
 */
export function parseInput(operation: Operation, input: unknown): unknown {
  const result = operation.input.safeParse(input)
  if (result.success) return result.data
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, input, keysOf(operation.input)))
  throw refused(operation, faults)
}

/** The keys of an input; in the order of the schema. */
const keysOf = (schema: z.ZodType): string[] => Object.keys((schema as z.ZodObject).shape ?? {})

function faultsOf(issue: z.core.$ZodIssue, input: unknown, known: readonly string[]): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, known))
  const field = issue.path.join('.') || 'input'
  const found = describe(valueAt(input, issue.path))
  if (issue.code === 'invalid_type') return [`${field}: expected ${issue.expected}, found ${found}`]
  return [`${field}: ${issue.message.replace(/^Invalid input: /, '')}, found ${found}`]
}

function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known)
  const hint = close === undefined ? `expected one of ${known.join(', ') || 'none'}` : `did you mean '${close}'?`
  return `${key}: there is no such field; ${hint}`
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let inner = value
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined
    inner = Reflect.get(inner, key)
  }
  return inner
}

const MAX_SHOWN = 80

function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `'${value.slice(0, MAX_SHOWN)}'`
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

const refused = (operation: Operation, faults: readonly string[]): HoltError =>
  new HoltError('InvalidInput', `${operation.name}: ${faults.join('; ')}. Usage: ${usageOf(operation)}`, {
    operation: operation.name,
    faults,
    usage: usageOf(operation),
  })
