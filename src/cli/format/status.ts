/** A fleet and its agents as tables: `holt status`, `holt list`. */
import type { AgentSnapshot, FleetSnapshot } from '../../model/snapshot.ts'
import { statusColour } from './colour.ts'
import { type Cell, type Column, table } from './table.ts'
import { clean, type Look, wrap } from './text.ts'
import { duration } from './time.ts'

/** The status, and what is wanted where that differs: `Stopped (suspended)`, `Unhealthy (restart in 4s)`. */
export function statusText(agent: AgentSnapshot, now: number): string {
  const { status, intent, admission, nextRestartAt, superseded } = agent
  const more: string[] = []
  if (intent === 'running') {
    if (status === 'Stopped' || status === 'Stopping') more.push('intent: running')
  } else if (intent !== 'stopped' || (status !== 'Stopped' && status !== 'Stopping')) more.push(intent)
  if (admission === 'cordoned' && status !== 'Paused') more.push('cordoned')
  if (superseded) more.push('superseded')
  if (nextRestartAt !== null)
    more.push(nextRestartAt > now ? `restart in ${duration(nextRestartAt - now)}` : 'restart due')
  return more.length === 0 ? status : `${status} (${more.join(', ')})`
}

const statusCell = (agent: AgentSnapshot, now: number): Cell => ({
  text: statusText(agent, now),
  colour: statusColour(agent.status),
})

const STATUS_COLUMNS: readonly Column[] = [
  { title: 'ID', least: 8 },
  { title: 'STATUS', least: 10 },
  { title: 'PHASE' },
  { title: 'RESTARTS', right: true },
  { title: 'MAILBOX', right: true },
  { title: 'UPTIME', right: true },
]

export function fleetLines(fleet: FleetSnapshot, look: Look): string[] {
  const { host, agents } = fleet
  const now = host.startedAt + host.uptimeMs
  const head = `holt ${host.version}, pid ${host.pid}, up ${duration(host.uptimeMs)}, state ${host.stateDir}`
  const rows = agents.map((agent): Cell[] => [
    agent.id,
    statusCell(agent, now),
    agent.phase,
    String(agent.restarts),
    `${agent.mailbox.depth}/${agent.mailbox.capacity}`,
    agent.instance === null ? '-' : duration(agent.instance.uptimeMs),
  ])
  const shown = agents.length === 0 ? [] : ['', ...table(STATUS_COLUMNS, rows, look)]
  return [
    ...wrap(clean(head), look.width, '  ', ''),
    ...stateLines(host.stateFault, look),
    ...wrap(counted(fleet), look.width, '  ', ''),
    ...shown,
    ...notes(agents, look),
  ]
}

/** A state that cannot be saved stands above all else. */
function stateLines(fault: FleetSnapshot['host']['stateFault'], look: Look): string[] {
  if (fault === null) return []
  return wrap(clean(`STATE DEGRADED (${fault.code}): ${fault.text}`), look.width, '  ', '')
}

function counted({ agents, counts }: FleetSnapshot): string {
  if (agents.length === 0) return 'no agents'
  const each = Object.entries(counts).map(([status, n]) => `${n} ${status}`)
  return `${agents.length} agent${agents.length === 1 ? '' : 's'}: ${each.join(', ')}`
}

/** What a table has no column for, and nobody should overlook. */
function notes(agents: readonly AgentSnapshot[], look: Look): string[] {
  const found = agents.flatMap((agent) => {
    const { id, mailbox, pausedBy, reason, command } = agent
    const said: string[] = []
    if (pausedBy !== null) said.push(`paused by ${pausedBy}${reason === null ? '' : ` (${reason})`}`)
    if (command !== null) said.push(`held by '${command.name}' of ${command.by}`)
    if (mailbox.dropped > 0) said.push(`${mailbox.dropped} dropped`)
    if (mailbox.ignored > 0) said.push(`${mailbox.ignored} ignored`)
    return said.length === 0 ? [] : wrap(clean(`${id}: ${said.join(', ')}`), look.width, '  ', '')
  })
  return found.length === 0 ? [] : ['', ...found]
}

const LIST_COLUMNS: readonly Column[] = [
  { title: 'ID', least: 8 },
  { title: 'NAME', least: 8 },
  { title: 'VERSION', least: 7 },
  { title: 'STATUS', least: 10 },
  { title: 'SUPERVISOR', least: 6 },
]

export function listLines(agents: readonly AgentSnapshot[], now: number, look: Look): string[] {
  const rows = agents.map((agent): Cell[] => [
    agent.id,
    agent.name,
    agent.version,
    statusCell(agent, now),
    agent.supervisor,
  ])
  return table(LIST_COLUMNS, rows, look)
}
