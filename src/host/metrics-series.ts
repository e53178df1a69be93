/**
 * The table of the figures: name, meaning, labels, and where each is read. Labels are bounded: ids of agents that there
 * are, closed lists of causes and fates, names of handlers up to a limit. To add a figure, add a row.
 */
import type { Agent } from '../actors/agent.ts'
import { heartbeatMsOf } from '../actors/agent-spec.ts'
import type { Directory } from '../actors/directory.ts'
import { mailboxOf, tasksOf } from '../actors/snapshot.ts'
import type { HandlerMetrics } from '../model/view.ts'
import type { Clock } from '../platform/clock.ts'
import type { Series } from '../platform/metrics.ts'
import type { HostIdentity } from './host.ts'
import { countsOf } from './views.ts'

export interface SeriesParts {
  readonly directory: Directory
  readonly clock: Clock
  readonly identity: HostIdentity
  /** What is counted as it happens. */
  readonly tallies: {
    deathsOf(agent: string): Iterable<readonly [string, number]>
    fatesOf(agent: string): Iterable<readonly [string, number]>
  }
}

/** Handlers told one by one, of one agent; the counts of the rest are added up. */
const MAX_HANDLERS = 64
const REST = '(other)'
const MB = 1_048_576
const MS = 1000

type Row = readonly [labels: readonly string[], value: number]

export const seriesOf = (parts: SeriesParts): Series[] => [
  ...ofHost(parts),
  ...ofMessages(parts),
  ...ofHandlers(parts),
  ...ofInstances(parts),
]

const gauge = (name: string, help: string, labels: readonly string[], read: Series['read']): Series => ({
  kind: 'gauge',
  name,
  help,
  labels,
  read,
})
const counter = (name: string, help: string, labels: readonly string[], read: Series['read']): Series => ({
  ...gauge(name, help, labels, read),
  kind: 'counter',
})

/** One number an agent; null for none. */
const each = ({ directory }: SeriesParts, value: (agent: Agent) => number | null) =>
  function* (): Iterable<Row> {
    for (const agent of directory.all()) {
      const found = value(agent)
      if (found !== null) yield [[agent.id], found]
    }
  }

/** Some numbers an agent, each with one more label. */
const some = ({ directory }: SeriesParts, values: (agent: Agent) => Iterable<readonly [string, number]>) =>
  function* (): Iterable<Row> {
    for (const agent of directory.all()) for (const [label, value] of values(agent)) yield [[agent.id, label], value]
  }

const AGENT = ['agent']

function ofHost({ identity, clock, directory }: SeriesParts): Series[] {
  const { version } = identity
  return [
    gauge('holt_host_info', 'The host, always 1.', ['version'], () => [[[version], 1]]),
    gauge('holt_host_uptime_seconds', 'Since the host was made.', [], () => [
      [[], (clock.wall() - identity.startedAt) / MS],
    ]),
    gauge('holt_agents', 'Agents by status.', ['status'], () =>
      Object.entries(countsOf(directory.all())).map(([status, count]) => [[status], count ?? 0]),
    ),
  ]
}

function ofMessages(parts: SeriesParts): Series[] {
  const { clock, tallies } = parts
  const mailbox = (agent: Agent) => mailboxOf(agent, clock, agent.inbox.pump.inFlight().length)
  return [
    counter(
      'holt_messages_received_total',
      'Messages that were accepted.',
      AGENT,
      each(parts, (a) => tasksOf(a).received),
    ),
    counter(
      'holt_message_fates_total',
      'Messages by what became of them.',
      ['agent', 'fate'],
      some(parts, ({ id }) => tallies.fatesOf(id)),
    ),
    counter(
      'holt_messages_stale_epoch_total',
      'What an instance said after it had been replaced.',
      AGENT,
      each(parts, ({ inbox }) => inbox.fates.counters.staleEpoch),
    ),
    counter(
      'holt_fenced_total',
      'The same, by kind.',
      ['agent', 'kind'],
      some(parts, ({ inbox }) => Object.entries(inbox.fates.fenced.counts())),
    ),
    gauge(
      'holt_mailbox_depth',
      'Messages that wait.',
      AGENT,
      each(parts, (a) => mailbox(a).depth),
    ),
    gauge(
      'holt_mailbox_capacity',
      'Messages that may wait while it is away.',
      AGENT,
      each(parts, (a) => mailbox(a).capacity),
    ),
    gauge(
      'holt_mailbox_in_flight',
      'Messages that are being handled.',
      AGENT,
      each(parts, (a) => mailbox(a).inFlight),
    ),
    gauge(
      'holt_mailbox_oldest_age_seconds',
      'Age of the oldest message that is not done; 0 where there is none.',
      AGENT,
      each(parts, (a) => (mailbox(a).oldestAgeMs ?? 0) / MS),
    ),
    gauge(
      'holt_asks_pending',
      'Asks that wait for a reply.',
      AGENT,
      each(parts, ({ inbox }) => inbox.asks.size),
    ),
  ]
}

function ofHandlers(parts: SeriesParts): Series[] {
  const labels = ['agent', 'handler']
  return [
    counter(
      'holt_handler_calls_total',
      'Calls of a handler.',
      labels,
      some(parts, (a) => summed(a, 'count')),
    ),
    counter(
      'holt_handler_errors_total',
      'Calls that failed.',
      labels,
      some(parts, (a) => summed(a, 'errors')),
    ),
    gauge(
      'holt_handler_duration_seconds',
      'How long a handler of the newest instance takes; of the calls that were measured, about one in 16 under load.',
      [...labels, 'quantile'],
      function* () {
        for (const agent of parts.directory.all())
          for (const [handler, metrics] of handlersOf(agent).slice(0, MAX_HANDLERS))
            for (const [quantile, ms] of quantilesOf(metrics)) yield [[agent.id, handler, quantile], ms / MS]
      },
    ),
  ]
}

const handlersOf = (agent: Agent): [string, HandlerMetrics][] => Object.entries(agent.invocations.metrics())

function* summed(agent: Agent, field: 'count' | 'errors'): Iterable<readonly [string, number]> {
  const handlers = handlersOf(agent)
  for (const [name, metrics] of handlers.slice(0, MAX_HANDLERS)) yield [name, metrics[field]]
  const rest = handlers.slice(MAX_HANDLERS)
  if (rest.length > 0) yield [REST, rest.reduce((sum, [, metrics]) => sum + metrics[field], 0)]
}

const quantilesOf = ({ p50Ms, p95Ms, p99Ms }: HandlerMetrics): (readonly [string, number])[] =>
  (
    [
      ['0.5', p50Ms],
      ['0.95', p95Ms],
      ['0.99', p99Ms],
    ] as const
  ).flatMap(([quantile, ms]) => (ms === null ? [] : [[quantile, ms] as const]))

function ofInstances(parts: SeriesParts): Series[] {
  const { clock, tallies } = parts
  const live = (value: (instance: NonNullable<Agent['instance']>, agent: Agent) => number) =>
    each(parts, (agent) => (agent.instance === null ? null : value(agent.instance, agent)))
  return [
    gauge(
      'holt_agent_up',
      'Whether an instance lives.',
      AGENT,
      each(parts, ({ instance }) => (instance?.alive === true ? 1 : 0)),
    ),
    gauge(
      'holt_agent_uptime_seconds',
      'Of the instance there is.',
      AGENT,
      live(({ startedAt }) => (clock.now() - startedAt) / MS),
    ),
    counter(
      'holt_restarts_total',
      'Starts by the supervisor or by `restart`.',
      AGENT,
      each(parts, (a) => a.restarts),
    ),
    counter(
      'holt_deaths_total',
      'Ends of instances by cause.',
      ['agent', 'cause'],
      some(parts, ({ id }) => tallies.deathsOf(id)),
    ),
    gauge(
      'holt_event_loop_lag_seconds',
      'How late the sign of life of the thread is.',
      AGENT,
      live(
        ({ recorder }, { spec }) => Math.max(0, recorder.heartbeatAgeMs(clock.now()) - heartbeatMsOf(spec.limits)) / MS,
      ),
    ),
    gauge(
      'holt_event_loop_utilization_ratio',
      'Share of the time in which the loop of the thread was busy, at its last sign of life.',
      AGENT,
      live(({ recorder }) => recorder.utilization),
    ),
    gauge(
      'holt_heap_used_bytes',
      'Of the old generation, what lives.',
      AGENT,
      live(({ recorder }) => recorder.heapUsedMb * MB),
    ),
    gauge(
      'holt_heap_limit_bytes',
      'What the manifest allows.',
      AGENT,
      each(parts, ({ spec }) => spec.limits.heapMb * MB),
    ),
  ]
}
