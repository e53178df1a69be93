/**
 * What `holt top` knows and what a key means: plain values and pure functions. `top.ts` feeds it samples and keys,
 * `format/top.ts` draws it.
 */
import type { AgentSnapshot, FleetSnapshot } from '../model/snapshot.ts'
import type { Key } from './screen.ts'

/** In the order in which `s` goes through them. `trouble`: what needs a look stands first. */
export const SORTS = ['trouble', 'rate', 'depth', 'oldest', 'restarts', 'heap', 'id'] as const
export type Sort = (typeof SORTS)[number]

/** What had been handled at a time, by agent. */
export interface Sample {
  /** Host's time, ms since the epoch. */
  readonly at: number
  readonly completed: ReadonlyMap<string, number>
}

export interface TopState {
  readonly fleet: FleetSnapshot
  /** Oldest first, of this run of the host alone. */
  readonly samples: readonly Sample[]
  readonly sort: Sort
  /** Id; null in an empty fleet. */
  readonly selected: string | null
  /** What became of the last command. */
  readonly said: { readonly text: string; readonly bad: boolean } | null
  /** Why the host is not heard. */
  readonly lost: string | null
}

export type TopCommand = 'pause' | 'resume' | 'restart'
export type Action =
  | { readonly type: 'quit' }
  | { readonly type: 'sort' }
  /** Rows down; below 0 up; infinite for the first or the last. */
  | { readonly type: 'move'; readonly by: number }
  | { readonly type: 'command'; readonly name: TopCommand }

/** Rates are taken over so long, so that they can be read. */
const RATE_WINDOW_MS = 2000
const PAGE = 10

const OF_NAME: Readonly<Record<string, Action>> = {
  up: { type: 'move', by: -1 },
  down: { type: 'move', by: 1 },
  pageup: { type: 'move', by: -PAGE },
  pagedown: { type: 'move', by: PAGE },
  home: { type: 'move', by: Number.NEGATIVE_INFINITY },
  end: { type: 'move', by: Number.POSITIVE_INFINITY },
}
const OF_TEXT: Readonly<Record<string, Action>> = {
  k: { type: 'move', by: -1 },
  j: { type: 'move', by: 1 },
  p: { type: 'command', name: 'pause' },
  r: { type: 'command', name: 'resume' },
  R: { type: 'command', name: 'restart' },
  s: { type: 'sort' },
  q: { type: 'quit' },
}

/** What a key asks for; nothing for most. */
export function actionOf({ text, name, ctrl }: Key): Action | undefined {
  if (ctrl) return name === 'c' ? { type: 'quit' } : undefined
  if (Object.hasOwn(OF_TEXT, text)) return OF_TEXT[text]
  return Object.hasOwn(OF_NAME, name) ? OF_NAME[name] : undefined
}

export const hostTime = ({ host }: FleetSnapshot): number => host.startedAt + host.uptimeMs

const sampleOf = (fleet: FleetSnapshot): Sample => ({
  at: hostTime(fleet),
  completed: new Map(fleet.agents.map(({ id, tasks }) => [id, tasks.completed])),
})

export function begun(fleet: FleetSnapshot): TopState {
  const state: TopState = {
    fleet,
    samples: [sampleOf(fleet)],
    sort: 'trouble',
    selected: null,
    said: null,
    lost: null,
  }
  return { ...state, selected: sorted(state)[0]?.id ?? null }
}

/** Takes what the host says now: it is heard, so it is not lost. */
export function sampled(state: TopState, fleet: FleetSnapshot): TopState {
  const sample = sampleOf(fleet)
  const same = fleet.host.id === state.fleet.host.id && fleet.host.startedAt === state.fleet.host.startedAt
  const before = same ? state.samples.filter(({ at }) => at < sample.at) : []
  // One sample of the window's age or more is kept: a rate needs a beginning.
  const first = before.findLastIndex(({ at }) => sample.at - at >= RATE_WINDOW_MS)
  const next = { ...state, fleet, samples: [...before.slice(Math.max(0, first)), sample], lost: null }
  return { ...next, selected: reselected(state, next) }
}

/** An agent that has gone leaves the cursor at its row. */
function reselected(before: TopState, now: TopState): string | null {
  const agents = sorted(now)
  if (agents.some(({ id }) => id === before.selected)) return before.selected
  const row = sorted(before).findIndex(({ id }) => id === before.selected)
  return agents[Math.min(Math.max(0, row), agents.length - 1)]?.id ?? null
}

export function moved(state: TopState, by: number): TopState {
  const agents = sorted(state)
  const row = agents.findIndex(({ id }) => id === state.selected)
  const next = Math.min(Math.max(0, row + by), agents.length - 1)
  // The outcome has been read: in a low terminal it stands where the keys are told.
  return { ...state, selected: agents[next]?.id ?? null, said: null }
}

export function resorted(state: TopState): TopState {
  const sort = SORTS[(SORTS.indexOf(state.sort) + 1) % SORTS.length]!
  return { ...state, sort, said: { text: `sorted by ${sort}`, bad: false } }
}

/** Messages handled a second; null where there is no earlier sample of the agent. */
export function rateOf(samples: readonly Sample[], id: string): number | null {
  const newest = samples.at(-1)
  const oldest = samples.find(({ completed }) => completed.has(id))
  const now = newest?.completed.get(id)
  if (newest === undefined || oldest === undefined || now === undefined || newest.at <= oldest.at) return null
  // Fewer than before: it counts anew since it was installed again.
  return (Math.max(0, now - oldest.completed.get(id)!) * 1000) / (newest.at - oldest.at)
}

const TROUBLE = ['Unhealthy', 'Starting', 'Stopping', 'Paused', 'Running', 'Stopped']

/** Least first. A status of a newer host stands above all. */
const KEYS: Readonly<Record<Sort, (agent: AgentSnapshot, samples: readonly Sample[]) => number>> = {
  trouble: ({ status }) => TROUBLE.indexOf(status),
  rate: ({ id }, samples) => -(rateOf(samples, id) ?? 0),
  depth: ({ mailbox }) => -mailbox.depth,
  oldest: ({ mailbox }) => -(mailbox.oldestAgeMs ?? -1),
  restarts: ({ restarts }) => -restarts,
  heap: ({ heapUsedMb }) => -(heapUsedMb ?? -1),
  id: () => 0,
}

/** The agents in the order of the table; equals by id. */
export function sorted({ fleet, samples, sort }: TopState): readonly AgentSnapshot[] {
  const key = KEYS[sort]
  return fleet.agents
    .map((agent) => ({ agent, rank: key(agent, samples) }))
    .sort((a, b) => a.rank - b.rank || (a.agent.id < b.agent.id ? -1 : 1))
    .map(({ agent }) => agent)
}
