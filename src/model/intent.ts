/**
 * What the operator wants of an agent, and which commands apply where. Two tables and the texts made from them; no
 * message that lists commands is ever typed by hand.
 */
import { LIVE, type Phase } from './lifecycle.ts'

/** Durable: whether the agent ought to run. */
export type Intent = 'running' | 'suspended' | 'stopped'
/** Durable: whether new work is let in. */
export type Admission = 'open' | 'cordoned'

/** One committed intent, with who asked for it and when. */
export interface IntentRecord {
  readonly intent: Intent
  readonly admission: Admission
  /** Grows by one with each commit; what compare-and-set compares. */
  readonly generation: number
  /** Who wanted the intent, why and when; not who paused it. */
  readonly by: string
  readonly reason: string | null
  /** Wall clock, ms since the epoch. */
  readonly at: number
  /** When admission was cordoned, by whom and why; null while open. */
  readonly pausedSince: number | null
  readonly pausedBy: string | null
  readonly pausedReason: string | null
}

export type IntentChange = Pick<IntentRecord, 'by' | 'reason' | 'at'> & {
  readonly intent?: Intent
  readonly admission?: Admission
}

/** Where intents are kept. A commit that has resolved survives what the store promises to survive. */
export interface IntentStore {
  read(agent: string): IntentRecord | undefined
  /**
   * @param condition commit only where this is the present generation
   * @throws HoltError `GenerationMismatch`, naming the present one
   */
  commit(agent: string, change: IntentChange, condition?: { readonly ifGeneration?: number }): Promise<IntentRecord>
}

/** The record that follows `previous` (the default record of `fallback` where there is none). */
export function nextIntent(previous: IntentRecord | undefined, change: IntentChange, fallback: Intent): IntentRecord {
  const admission = change.admission ?? previous?.admission ?? 'open'
  const cordonedNow = admission === 'cordoned' && previous?.admission !== 'cordoned'
  const open = admission === 'open'
  // Who wants it to run and who shut its gate are two questions: a change of one leaves the answer to the other.
  const wanted = change.intent === undefined && previous !== undefined ? previous : change
  return {
    intent: change.intent ?? previous?.intent ?? fallback,
    admission,
    generation: (previous?.generation ?? 0) + 1,
    by: wanted.by,
    reason: wanted.reason,
    at: wanted.at,
    pausedSince: open ? null : cordonedNow ? change.at : (previous?.pausedSince ?? null),
    pausedBy: open ? null : cordonedNow ? change.by : (previous?.pausedBy ?? null),
    pausedReason: open ? null : cordonedNow ? change.reason : (previous?.pausedReason ?? null),
  }
}

export const COMMANDS = ['start', 'activate', 'pause', 'resume', 'suspend', 'stop', 'restart', 'kill'] as const
export type Command = (typeof COMMANDS)[number]

/** What decides whether a command applies. */
export interface CommandState {
  readonly phase: Phase
  readonly intent: Intent
  readonly admission: Admission
  /** A restart or a retry is scheduled. */
  readonly scheduled: boolean
  readonly alive: boolean
}

/** What each command wants. */
export const WANTS: Readonly<Record<Command, { readonly intent?: Intent; readonly admission?: Admission }>> = {
  start: { intent: 'running' },
  activate: { intent: 'running' },
  suspend: { intent: 'suspended' },
  stop: { intent: 'stopped' },
  pause: { admission: 'cordoned' },
  resume: { admission: 'open' },
  restart: {},
  kill: {},
}

const VALID: Readonly<Record<Command, (s: CommandState) => boolean>> = {
  start: (s) => !LIVE.has(s.phase) && !s.scheduled,
  activate: (s) => !LIVE.has(s.phase) && !s.scheduled,
  pause: (s) => s.intent === 'running' && s.admission === 'open',
  resume: (s) => s.admission === 'cordoned',
  suspend: (s) => s.intent === 'running',
  stop: (s) => s.intent !== 'stopped',
  restart: (s) => s.intent === 'running',
  kill: (s) => s.alive,
}

export const isValid = (command: Command, state: CommandState): boolean => VALID[command](state)

export const validCommands = (state: CommandState): Command[] => COMMANDS.filter((command) => VALID[command](state))

/** `null` when the command applies, else the sentence that refuses it. */
export function refusal(command: Command, agent: string, state: CommandState): string | null {
  if (isValid(command, state)) return null
  const intent = state.phase === 'STOPPED' && state.intent !== 'running' ? ` (${state.intent})` : ''
  const waiting = state.scheduled ? ' with a start scheduled' : ''
  const valid = validCommands(state).join(', ') || 'none'
  return `Cannot apply '${command}' to agent '${agent}' in ${state.phase}${intent}${waiting}. Valid commands: ${valid}`
}

/** What may hold an agent: a command, or the replacing of its version. */
export type Holding = Command | 'reload'

/** Higher pre-empts lower; equal or lower is refused while one holds the agent. */
const RANK: Readonly<Record<Holding, number>> = {
  kill: 4,
  stop: 3,
  suspend: 2,
  restart: 1,
  start: 0,
  activate: 0,
  pause: 0,
  resume: 0,
  reload: 0,
}

export const preempts = (newcomer: Holding, holder: Holding): boolean => RANK[newcomer] > RANK[holder]
