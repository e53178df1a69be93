/** An error for people: what is wrong, under its code, and what to do next. */
import type { ErrorCode } from '../../model/error.ts'
import { paint } from './colour.ts'
import { clean, type Look } from './text.ts'

/** What to do next, in words of the command; the message itself says what is wrong. */
const NEXT: Readonly<Partial<Record<ErrorCode, (id: string) => string>>> = {
  AgentBusy: () => 'wait for it, or give a stronger command: kill, stop, suspend, restart',
  Preempted: (id) => `see how it stands: holt get ${id}`,
  NoSuchAgent: () => 'see which there are: holt list',
  NoSuchCommand: (id) => `see what it answers to: holt commands ${id}`,
  NotAccepting: (id) => `see why: holt why ${id}`,
  CommandBusy: (id) => `wait until it ends, or see since when it runs: holt mailbox ${id}`,
  Overloaded: (id) => `see what waits: holt mailbox ${id}`,
  Timeout: (id) => `see what it is at: holt mailbox ${id}; or wait longer: --timeout-ms N`,
  AgentDied: (id) => `see what was decided: holt why ${id}`,
  BootFailed: (id) => `see the step that failed: holt why ${id}`,
  InvalidManifest: () => 'see every fault without starting anything: holt validate DIR',
  GateRefused: () => 'see what the host lends: holt capabilities',
}

/**
 * @param id whom the command was about, where it was about someone
 * @param next what to do next, where the caller knows better than the table
 */
export function complaintLines(
  code: ErrorCode | null,
  message: string,
  id: string,
  next: string | undefined,
  look: Look,
): string[] {
  const [first = '', ...more] = message.split('\n').map(clean)
  const hint = next ?? (code === null ? undefined : NEXT[code]?.(clean(id)))
  return [
    `${paint('holt:', 'red', look.colour)} ${first}`,
    ...more,
    ...(hint === undefined ? [] : [paint(`  ${hint}`, 'dim', look.colour)]),
  ]
}
