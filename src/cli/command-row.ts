/** The shape of a row of `rows.ts`: what the help, the parser and the run of a command need to know of it. */
import type { Run } from './invocation.ts'

export interface OptionRow {
  /** `--timeout-ms N` */
  readonly flags: string
  readonly text: string
  /** Its value is a number of milliseconds. @default false */
  readonly ms?: true
  /** Its value is a whole number from 0. @default false */
  readonly count?: true
}

export interface CommandRow {
  readonly name: string
  /** Heading in the help. */
  readonly group: 'The host' | 'Looking' | 'Agents' | 'Messages'
  /** `ID EVENT [JSON]`; words in brackets may be left out. */
  readonly usage: string
  /** What the words are, where it needs saying. */
  readonly words?: string
  readonly summary: string
  /** What follows `holt `. */
  readonly example: string
  readonly options?: readonly OptionRow[]
  /** Speaks to a host that runs. @default true */
  readonly remote?: false
  /** How long it waits for an answer, ms. @default 10000 */
  readonly timeoutMs?: number
  /** The host is told of `--timeout-ms` and keeps to it; its answer is waited for a little longer. @default false */
  readonly hostKeepsTime?: true
  load(): Promise<Run>
}
