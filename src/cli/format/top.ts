/** The frame of `holt top`: state → lines, as many as the terminal has and none wider; and its table alone, for a pipe. */
import type { AgentSnapshot, FleetSnapshot } from '../../model/snapshot.ts'
import { begun, hostTime, rateOf, sorted, type TopState } from '../top-state.ts'
import { type Colour, paint, statusColour } from './colour.ts'
import { clean, cut, type Look, pad, widthOf } from './text.ts'
import { duration } from './time.ts'

export interface TopLook extends Look {
  /** Lines. */
  readonly height: number
}

interface Shown {
  readonly now: number
  readonly rate: number | null
}

interface TopColumn {
  readonly title: string
  /** Fixed, so that figures do not jump; what is longer is cut. */
  readonly width: number
  readonly right: boolean
  /** Where the terminal is narrow, the highest goes first. */
  readonly rank: number
  text(agent: AgentSnapshot, shown: Shown): string
  colour?(agent: AgentSnapshot): Colour | undefined
}

const COLUMNS: readonly TopColumn[] = [
  {
    title: 'STATUS',
    width: 9,
    right: false,
    rank: 0,
    text: ({ status }) => status,
    colour: ({ status }) => statusColour(status),
  },
  { title: 'PHASE', width: 10, right: false, rank: 7, text: ({ phase }) => phase },
  { title: 'RATE/S', width: 6, right: true, rank: 2, text: (_, { rate }) => (rate === null ? '-' : perSecond(rate)) },
  { title: 'DEPTH', width: 5, right: true, rank: 1, text: ({ mailbox }) => String(mailbox.depth) },
  { title: 'OLDEST', width: 7, right: true, rank: 3, text: ({ mailbox }) => span(mailbox.oldestAgeMs) },
  { title: 'RESTARTS', width: 8, right: true, rank: 4, text: ({ restarts }) => String(restarts) },
  { title: 'HEAP', width: 6, right: true, rank: 6, text: ({ heapUsedMb }) => megabytes(heapUsedMb) },
  { title: 'RETRY', width: 7, right: true, rank: 5, text: ({ nextRestartAt }, { now }) => retry(nextRestartAt, now) },
]

const GAP = ' '
/** Room for the ids goes before a column, up to so much. */
const ID_LEAST = 8
const ID_WISHED = 20
/** Below it the outcome of a command takes the line of the keys. */
const TALL = 14
const KEYS = 'j/k move  p pause  r resume  R restart  s sort  q quit'
const KEYS_SHORT = 'j/k p r R s q'

const REVERSE = (text: string): string => `\u001b[7m${text}\u001b[0m`

function perSecond(rate: number): string {
  if (rate === 0) return '0'
  if (rate < 10) return rate.toFixed(1)
  return rate < 100_000 ? String(Math.round(rate)) : `${Math.round(rate / 1000)}k`
}

const span = (ms: number | null): string => (ms === null ? '-' : duration(ms))
const megabytes = (mb: number | null): string => (mb === null ? '-' : `${Math.round(mb)}MB`)
const retry = (at: number | null, now: number): string => (at === null ? '-' : at > now ? duration(at - now) : 'due')

/** As many lines as `look.height`, none wider than `look.width`. */
export function frame(state: TopState, look: TopLook): string[] {
  const head = headLines(state, look)
  const foot = footLines(state, look)
  const room = Math.max(0, look.height - head.length - foot.length - 1)
  const agents = sorted(state)
  const at = Math.max(
    0,
    agents.findIndex(({ id }) => id === state.selected),
  )
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), agents.length - room))
  const rows = rowsOf(state, agents.slice(first, first + room), true, look)
  const blank = Array.from({ length: Math.max(0, room + 1 - rows.length) }, () => '')
  const lines = [...head, ...rows, ...blank, ...foot]
  return lines.slice(0, look.height)
}

/** The table of one moment, with every agent and no rate: that takes two. */
export function onceLines(fleet: FleetSnapshot, look: Look): string[] {
  const state = begun(fleet)
  const head = headTexts(fleet).map((text) => cut(text, look.width))
  return [...head, ...rowsOf(state, sorted(state), false, look)]
}

function headLines({ fleet, lost }: TopState, look: Look): string[] {
  const lines = headTexts(fleet).map((text, i) =>
    paint(cut(text, look.width), i === 0 ? 'bold' : undefined, look.colour),
  )
  if (lost !== null) lines.push(paint(cut(clean(`HOST LOST, trying again: ${lost}`), look.width), 'red', look.colour))
  return lines
}

function headTexts({ host, agents, counts }: FleetSnapshot): string[] {
  const each = Object.entries(counts).map(([status, n]) => `${n} ${status}`)
  const counted = agents.length === 0 ? 'no agents' : `${agents.length} agent${agents.length === 1 ? '' : 's'}`
  const fault = host.stateFault
  return [
    clean(`holt ${host.version}  up ${duration(host.uptimeMs)}  pid ${host.pid}  host ${host.id}`),
    clean([counted, ...each].join('  ')),
    ...(fault === null ? [] : [clean(`STATE DEGRADED (${fault.code}): ${fault.text}`)]),
  ]
}

function footLines({ said }: TopState, look: TopLook): string[] {
  const keys = cut(widthOf(KEYS) <= look.width ? KEYS : KEYS_SHORT, look.width)
  const shown = said === null ? '' : paint(cut(clean(said.text), look.width), said.bad ? 'red' : undefined, look.colour)
  if (look.height >= TALL) return [shown, paint(keys, 'dim', look.colour)]
  return [shown === '' ? paint(keys, 'dim', look.colour) : shown]
}

function rowsOf(state: TopState, agents: readonly AgentSnapshot[], live: boolean, look: Look): string[] {
  if (state.fleet.agents.length === 0) return []
  // In front of the id, so that the cursor is seen without colour too.
  const mark = live ? 1 : 0
  const wished = Math.max(ID_LEAST, ...state.fleet.agents.map(({ id }) => widthOf(clean(id))))
  const columns = columnsFor(look.width - mark, Math.min(wished, ID_WISHED), live)
  const taken = columns.reduce((sum, { width }) => sum + GAP.length + width, mark)
  const idWidth = Math.min(wished, Math.max(1, look.width - taken))
  const now = hostTime(state.fleet)
  const title = [
    ' '.repeat(mark) + pad('ID', idWidth),
    ...columns.map(({ title: t, width, right }) => pad(t, width, right)),
  ]
  const body = agents.map((agent) => {
    const shown = { now, rate: rateOf(state.samples, agent.id) }
    const chosen = live && agent.id === state.selected
    const id = `${live ? (chosen ? '>' : ' ') : ''}${pad(cut(clean(agent.id), idWidth), idWidth)}`
    const cells = columns.map(({ text, width, right, colour }) =>
      paint(pad(cut(clean(text(agent, shown)), width), width, right), colour?.(agent), look.colour && !chosen),
    )
    const line = [id, ...cells].join(GAP)
    return chosen && look.colour ? REVERSE(line) : line.trimEnd()
  })
  return [paint(cut(title.join(GAP).trimEnd(), look.width), 'bold', look.colour), ...body]
}

/** Those that fit beside the ids, the most wanted first, in the order of the table. */
function columnsFor(width: number, idWidth: number, live: boolean): TopColumn[] {
  let left = width - idWidth
  const wanted = COLUMNS.filter(({ title }) => live || title !== 'RATE/S').sort((a, b) => a.rank - b.rank)
  const kept = new Set<TopColumn>()
  for (const column of wanted) {
    left -= column.width + GAP.length
    if (left < 0) break
    kept.add(column)
  }
  return COLUMNS.filter((column) => kept.has(column))
}
