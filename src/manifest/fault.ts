/**
 * What is wrong with a manifest: one `Fault` a place, and the one error that lists them all. Every reader of this room
 * makes its refusals here, so that each names file, line, field, what was expected and what was found.
 */
import { HoltError } from '../model/error.ts'

export interface Fault {
  /** Path of the file, or what the object is where there is none. */
  readonly file: string
  /** From 1; null where the manifest is an object. */
  readonly line: number | null
  /** From 1, in UTF-16 units. */
  readonly column: number | null
  /** `limits.heapMb`, `capabilities[0].allow[1]`; empty for the whole file. */
  readonly field: string
  readonly expected: string
  readonly found: string
  /** What to do. */
  readonly hint?: string
}

/** A fault before its place is known. */
export type Finding = Pick<Fault, 'expected' | 'found' | 'hint'>

export type Path = readonly PropertyKey[]

/** More than this are counted and not listed. */
const MAX_FAULTS = 100
const MAX_SHOWN = 60

const PLAIN_KEY = /^[A-Za-z_][\w-]*$/
// Characters that cannot be seen or that change how the rest of the line is read.
const UNSEEN = /[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** A text in quotes, cut, with everything unseen spelt out. */
export function quoted(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  return JSON.stringify(cut).replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function fieldOf(path: Path): string {
  let field = ''
  for (const key of path) {
    if (typeof key === 'number') field += `[${key}]`
    else if (PLAIN_KEY.test(String(key))) field += field === '' ? String(key) : `.${String(key)}`
    else field += `[${quoted(String(key))}]`
  }
  return field
}

/** What a value is, in a few words. `written` is its text in the file, for values that are no text. */
export function describe(value: unknown, written?: string): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  if (value === null) return written === undefined || written === '' ? 'nothing (null)' : `${written} (null)`
  return written ?? String(value)
}

/** One line: where, which field, expected, found, what to do. */
export function sentence(fault: Fault): string {
  const at = fault.line === null ? '' : `:${fault.line}:${fault.column ?? 1}`
  const field = fault.field === '' ? '' : ` ${fault.field}:`
  const hint = fault.hint === undefined ? '' : ` (${fault.hint})`
  return `${fault.file}${at}:${field} expected ${fault.expected}, found ${fault.found}${hint}`
}

const byPlace = (a: Fault, b: Fault): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) || 0

/** The error that tells all faults of a manifest at once. */
export function invalidManifest(faults: readonly Fault[]): HoltError {
  const listed = faults.toSorted(byPlace).slice(0, MAX_FAULTS)
  const lines = listed.map(sentence)
  if (faults.length > listed.length) lines.push(`… and ${faults.length - listed.length} more`)
  return new HoltError('InvalidManifest', lines.join('\n'), { faults: listed })
}
