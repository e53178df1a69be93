/**
 * One check at the door: a source against a schema. Turns what zod reports into faults with their places, and gathers
 * them with those the reader of the file had found already, so that one refusal lists all that is wrong.
 */
import type { z } from 'zod'
import { describe, type Fault, type Finding, fieldOf, type Path, quoted } from './fault.ts'
import { KEYS_PREFIX } from './fields.ts'
import { hintForUnknown, hintForWord } from './hints.ts'
import { faultAt, type Source } from './source.ts'

export type Checked<T> =
  | { readonly ok: true; readonly data: T }
  | { readonly ok: false; readonly faults: readonly Fault[] }

const QUOTE = 'quote it'

/** The value at a path; own fields only. */
export function valueAt(value: unknown, path: Path): unknown {
  let inner = value
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined
    inner = Reflect.get(inner, key)
  }
  return inner
}

function unknownField(source: Source, issue: z.core.$ZodIssueUnrecognizedKeys, key: string): Fault {
  const known = issue.message.slice(KEYS_PREFIX.length).split(', ')
  const hint = hintForUnknown(key, known)
  const finding = { expected: issue.message, found: `the unknown field ${quoted(key)}` }
  return faultAt(source, [...issue.path, key], hint === undefined ? finding : { ...finding, hint }, 'key')
}

function hintFor(issue: z.core.$ZodIssue, value: unknown, written: string | undefined): string | undefined {
  const scalar = typeof value === 'number' || typeof value === 'boolean' || (value === null && written)
  if (issue.code === 'invalid_type' && issue.expected === 'string' && scalar) return QUOTE
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return undefined
  const known = issue.values.filter((one) => typeof one === 'string')
  return hintForWord(value, known)
}

/** A field left out may still be wrong beside another: then its default is what was found. */
function foundText(issue: z.core.$ZodIssue, value: unknown, written: string | undefined): string {
  const fallback = issue.code === 'custom' && value === undefined ? issue.params?.['value'] : undefined
  return fallback === undefined ? describe(value, written) : `${String(fallback)} (the default)`
}

function findingOf(source: Source, issue: z.core.$ZodIssue): Finding {
  const value = valueAt(source.value, issue.path)
  const written = typeof value === 'string' ? undefined : source.written(issue.path)
  const hint = hintFor(issue, value, written)
  const kind = hint === QUOTE && value !== null ? (typeof value === 'number' ? ' (a number)' : ' (true or false)') : ''
  const finding = { expected: issue.message, found: `${foundText(issue, value, written)}${kind}` }
  return hint === undefined ? finding : { ...finding, hint }
}

function faultsOf(source: Source, issue: z.core.$ZodIssue): Fault[] {
  return issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => unknownField(source, issue, key))
    : [faultAt(source, issue.path, findingOf(source, issue))]
}

export function check<T>(schema: z.ZodType<T>, source: Source): Checked<T> {
  if (source.value === undefined && source.faults.length > 0) return { ok: false, faults: source.faults }
  const result = schema.safeParse(source.value)
  const faults = [...source.faults, ...(result.error?.issues.flatMap((issue) => faultsOf(source, issue)) ?? [])]
  const told = new Set(faults.map((fault) => fault.field))
  for (const doubt of source.doubts) {
    if (!told.has(fieldOf([...source.prefix, ...doubt.path]))) faults.push(faultAt(source, doubt.path, doubt))
  }
  return result.success && faults.length === 0 ? { ok: true, data: result.data } : { ok: false, faults }
}
