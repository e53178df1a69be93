/** `holt validate`: every fault of a fleet's manifests, and whether there are any. */
import { relative, sep } from 'node:path'
import type { Fault } from '../../manifest/fault.ts'
import { type Colour, paint } from './colour.ts'
import { clean, type Look, wrap } from './text.ts'

/** What was looked at, and what is wrong with it. */
export interface Validation {
  readonly ok: boolean
  readonly dir: string
  readonly agents: readonly { readonly id: string; readonly ok: boolean }[]
  readonly faults: readonly Fault[]
}

export function validationLines({ ok, agents, faults }: Validation, cwd: string, look: Look): string[] {
  const lines = faults.flatMap((fault) => [...faultLines(fault, cwd, look), ''])
  const bad = agents.filter((agent) => !agent.ok).map(({ id }) => id)
  const count = `${agents.length} agent${agents.length === 1 ? '' : 's'}`
  const found = `${faults.length} fault${faults.length === 1 ? '' : 's'}`
  const text = ok
    ? `no faults, ${count}`
    : `${found}${bad.length === 0 ? '' : `; these agents would not start: ${bad.join(', ')}`}`
  return [...lines, ...painted(wrap(clean(text), look.width, '  ', ''), ok ? 'green' : 'red', look)]
}

function faultLines({ file, line, column, field, expected, found, hint }: Fault, cwd: string, look: Look): string[] {
  const place = line === null ? '' : `:${line}:${column ?? 1}`
  const part = (label: string, text: string): string[] =>
    wrap(clean(text), look.width, '              ', `    ${label.padEnd(10)}`)
  return [
    ...painted(wrap(clean(shortened(file, cwd) + place), look.width, '  ', ''), 'bold', look),
    ...(field === '' ? [] : part('field', field)),
    ...part('expected', expected),
    ...part('found', found),
    ...(hint === undefined ? [] : part('hint', hint)),
  ]
}

const painted = (lines: readonly string[], colour: Colour, look: Look): string[] =>
  lines.map((line) => paint(line, colour, look.colour))

function shortened(file: string, cwd: string): string {
  const inside = relative(cwd, file)
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? file : inside
}
