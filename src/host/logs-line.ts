/**
 * A line of output as text and back: one JSON object a line, for rings and files. Data is bounded, and what JSON does not
 * know is told in a way that it does. Pure.
 */
import type { Output } from '../model/output.ts'

/** Longer texts and data are cut. */
export const MAX_TEXT = 65_536
const MAX_DATA = 16_384

export const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`)

/** @param more fields of the file beside those of the line */
export function jsonOf(output: Output, more: { readonly n: number; readonly run: number }): string {
  const { data, ...rest } = output
  const head = { ...rest, ...more }
  return data === undefined ? JSON.stringify(head) : JSON.stringify({ ...head, data: bounded(data) })
}

/** Null for what is no whole line: a file may end in half of one. */
export function outputOf(json: string): { readonly output: Output; readonly n: number; readonly run: number } | null {
  try {
    const { n, run, ...output } = JSON.parse(json) as Output & { readonly n: number; readonly run: number }
    return typeof output.at === 'number' && typeof output.text === 'string' ? { output, n, run } : null
  } catch {
    return null
  }
}

function bounded(data: unknown): unknown {
  try {
    const json: string | undefined = JSON.stringify(data, plainIn([]))
    if (json === undefined) return null
    return json.length <= MAX_DATA ? JSON.parse(json) : cut(json, MAX_DATA)
  } catch {
    return '[unreadable]'
  }
}

/** What JSON would lose or refuse, as plain data; what holds itself is marked. */
const plainIn = (open: { readonly value: object; readonly plain: unknown }[]) =>
  function (this: unknown, _key: string, value: unknown): unknown {
    while (open.length > 0 && open.at(-1)!.plain !== this) open.pop()
    if (typeof value === 'bigint') return value.toString()
    if (typeof value !== 'object' || value === null) return value
    if (open.some((one) => one.value === value)) return '[circular]'
    const plain = shown(value)
    open.push({ value, plain })
    return plain
  }

function shown(value: object): object {
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (value instanceof Set) return [...value]
  if (!(value instanceof Map)) return value
  const entries = [...value]
  return entries.every(([key]) => typeof key === 'string') ? Object.fromEntries(entries) : entries
}
