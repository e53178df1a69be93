/** `holt get`: everything about one agent, a line a subject. */
import type { AgentDetail } from '../../model/view.ts'
import { lastDeathLines } from './deaths.ts'
import { statusText } from './status.ts'
import { type Column, table } from './table.ts'
import { clean, cut, type Look, pad, wrap } from './text.ts'
import { duration, fullTime } from './time.ts'

const LABEL_WIDTH = 14
const MARGIN = '  '

/** @param now the host's wall clock, for what is yet to come */
export function detailLines(agent: AgentDetail, now: number, look: Look): string[] {
  const { mailbox, tasks, heapUsedMb, limits, lastDeath } = agent
  const line = (label: string, text: string): string[] =>
    wrap(clean(text), look.width, ' '.repeat(LABEL_WIDTH), pad(MARGIN + label, LABEL_WIDTH))
  const oldest = mailbox.oldestAgeMs === null ? '' : `, the oldest for ${duration(mailbox.oldestAgeMs)}`
  return [
    cut(clean(`${agent.id}  ${agent.name} ${agent.version}`), look.width),
    ...line('status', `${statusText(agent, now)}, ${agent.phase}, ${agent.activity}`),
    ...line('intent', intentText(agent)),
    ...(agent.command === null ? [] : line('command', `held by '${agent.command.name}' of ${agent.command.by}`)),
    ...line('instance', instanceText(agent)),
    ...line('supervisor', `${agent.supervisor}, ${agent.restarts} restart${agent.restarts === 1 ? '' : 's'}`),
    ...line('mailbox', `${mailbox.depth} of ${mailbox.capacity} wait${oldest}, ${mailbox.inFlight} in flight`),
    ...line('', `${mailbox.dropped} dropped, ${mailbox.ignored} ignored`),
    ...line('messages', `${tasks.received} received, ${tasks.completed} completed, ${tasks.failed} failed`),
    ...line('heap', `${heapUsedMb === null ? '-' : heapUsedMb.toFixed(1)} of ${limits.heapMb} MB`),
    ...fencedLine(agent, line),
    ...line('roles', agent.equippedCompetencies.map(({ name }) => name).join(', ') || 'none'),
    ...line(
      'may call',
      agent.capabilities.map(({ id, methods }) => `${id} (${methods.join(', ')})`).join(', ') || 'none',
    ),
    ...(agent.channels.length === 0 ? [] : line('channels', agent.channels.join(', '))),
    ...(agent.schedules.length === 0 ? [] : line('schedules', agent.schedules.map(({ id }) => id).join(', '))),
    ...(lastDeath === null
      ? []
      : lastDeathLines(lastDeath, look, ' '.repeat(LABEL_WIDTH), pad(`${MARGIN}last death`, LABEL_WIDTH))),
    ...handlerLines(agent, look),
  ]
}

function intentText({ intent, admission, pausedBy, pausedSince, reason, generation }: AgentDetail): string {
  const paused = pausedSince === null ? '' : ` since ${fullTime(pausedSince)} by ${pausedBy ?? 'someone'}`
  const why = reason === null ? '' : ` (${reason})`
  return `${intent}, admission ${admission}${paused}${why}, generation ${generation}`
}

/** Only where there is something: most agents never have any. */
function fencedLine({ fenced }: AgentDetail, line: (label: string, text: string) => string[]): string[] {
  const kinds = Object.entries(fenced)
  if (kinds.length === 0) return []
  return line('fenced', `refused: ${kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')}`)
}

function instanceText({ instance }: AgentDetail): string {
  if (instance === null) return 'none'
  return `${instance.id}, epoch ${instance.epoch}, up ${duration(instance.uptimeMs)}`
}

const HANDLER_COLUMNS: readonly Column[] = [
  { title: 'HANDLER', least: 10 },
  { title: 'COUNT', right: true },
  { title: 'ERRORS', right: true },
  { title: 'P50', right: true },
  { title: 'P95', right: true },
  { title: 'P99', right: true },
]

function handlerLines({ invocationMetrics }: AgentDetail, look: Look): string[] {
  const rows = Object.entries(invocationMetrics).map(([name, { count, errors, p50Ms, p95Ms, p99Ms }]) => [
    name,
    String(count),
    String(errors),
    ...[p50Ms, p95Ms, p99Ms].map(milliseconds),
  ])
  return rows.length === 0 ? [] : ['', ...table(HANDLER_COLUMNS, rows, look)]
}

/** Handlers take from microseconds to minutes. */
const milliseconds = (ms: number | null): string =>
  ms === null ? '-' : ms >= 1000 ? duration(ms) : `${ms < 10 ? ms.toFixed(2) : Math.round(ms)}ms`
