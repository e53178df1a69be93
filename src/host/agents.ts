/**
 * Makes the agents of a fleet and hands each what it needs: its boot, its supervisor's word, its ways up. What the
 * manifest could not be read for becomes an agent too, one that fails to boot and says why.
 */
import { Agent } from '../actors/agent.ts'
import type { AgentDeps, AgentSpec } from '../actors/agent-spec.ts'
import { KEPT_DEATHS } from '../actors/burial.ts'
import type { Router } from '../actors/outbound.ts'
import type { Threads } from '../actors/spawn.ts'
import type { Watches } from '../actors/watches.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { AgentManifest, Grant } from '../manifest/agent-manifest.ts'
import type { compileModules } from '../manifest/compile.ts'
import { DEFAULTS } from '../manifest/defaults.ts'
import type { AgentChild, FleetManifest } from '../manifest/fleet-manifest.ts'
import { loadAgent } from '../manifest/load.ts'
import type { DeathRecord } from '../model/death.ts'
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import type { IntentRecord } from '../model/intent.ts'
import { encodePayload } from '../model/payload.ts'
import type { Clock } from '../platform/clock.ts'
import { newId } from '../platform/id.ts'
import type { Logger } from '../platform/log.ts'
import type { Store } from '../store/store.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import type { Host } from './host.ts'
import { journalStore } from './journals.ts'
import { createOutput } from './output.ts'
import { checkGrants, prepare } from './prepare.ts'
import type { Records } from './records.ts'
import type { Secrets } from './secrets.ts'
import { tracedInbox } from './traced-inbox.ts'
import { Traces } from './traces.ts'
import type { TracingApi } from './tracing-api.ts'
import { specOf } from './tree.ts'

export interface MakerParts {
  readonly clock: Clock
  readonly host: Host
  readonly manifest: FleetManifest
  readonly registry: Registry
  readonly cacheDir: string
  readonly log: Logger
  readonly report: Report
  readonly intentOf: (agent: string) => IntentRecord
  readonly supervisorOf: (agent: string) => Supervisor
  readonly shuttingDown: () => boolean
  readonly threads: Threads
  readonly watches: Watches
  readonly request: Router['request']
  readonly compile: typeof compileModules
  /** Told of a manifest that a boot has accepted, and of every move of an agent. */
  readonly onAccepted: (manifest: AgentManifest) => void
  readonly onMoved: (agent: Agent) => void
  readonly store: Store
  readonly records: Records
  readonly secrets: Secrets
  /** Null: nothing is traced. */
  readonly tracing: TracingApi | null
}

export interface AgentMaker {
  /** @param read reads its manifest again; of a child of the fleet's own file known from that */
  make(child: AgentChild, read?: () => Promise<AgentManifest>): Agent
  /** @throws HoltError `GateRefused`; a manifest that cannot be read is left to the boot to report */
  checkGate(id: string): Promise<void>
  /** What the agent may call, by the manifest that was last accepted. */
  grantsOf(id: string): readonly Grant[]
  /** An agent that is one no more. */
  forget(id: string): void
}

export function agentMaker(parts: MakerParts): AgentMaker {
  const readers = new Map<string, () => Promise<AgentManifest>>()
  const grants = new Map<string, readonly Grant[]>()
  const deps = sharedDeps(parts)
  return {
    make: (child, read = manifestReader(child, parts.manifest)) => {
      readers.set(child.id, read)
      if (child.result.ok) grants.set(child.id, child.result.manifest.capabilities)
      const accept = (manifest: AgentManifest): void => {
        grants.set(child.id, manifest.capabilities)
        parts.supervisorOf(child.id).respecify(child.id, specOf(child, manifest))
        parts.onAccepted(manifest)
      }
      const agent = new Agent(actorSpec(child), { ...deps, prepare: preparer(parts, child.id, read, accept) })
      agent.deaths.push(...parts.store.deaths.of(child.id, KEPT_DEATHS))
      parts.records.restore(agent)
      parts.host.directory.add(agent)
      return agent
    },
    checkGate: async (id) => {
      const manifest = await readers
        .get(id)?.()
        .catch(() => undefined)
      if (manifest !== undefined) checkGrants(manifest, parts.registry)
    },
    grantsOf: (id) => grants.get(id) ?? [],
    forget: (id) => {
      readers.delete(id)
      grants.delete(id)
    },
  }
}

/**
 * The first boot takes what the fleet was loaded with; each later one that is asked for reads the file again. What was
 * handed over as an object has no file, and is as right or wrong as it was.
 */
function manifestReader(
  { result, dir, significant, override }: AgentChild,
  fleet: FleetManifest,
): () => Promise<AgentManifest> {
  const isObject = result.ok ? result.manifest.file === null : fleet.file === null && dir === fleet.dir
  let first = true
  return async () => {
    if (!first && !isObject) return loadAgent(dir, { fleetDir: fleet.dir, child: { significant, override } })
    first = false
    if (!result.ok) throw result.error
    return result.manifest
  }
}

function preparer(
  parts: MakerParts,
  id: string,
  readManifest: () => Promise<AgentManifest>,
  onAccepted: (manifest: AgentManifest) => void,
): AgentDeps['prepare'] {
  const { registry, cacheDir, manifest, report, host, compile } = parts
  const onRefused = (what: string, stale: boolean): void => {
    const agent = host.directory.get(id)
    if (stale) agent.inbox.fates.fenced.add(agent, 'capability', 1, 0)
    else report('capability.refused', { what }, { agent: id })
  }
  const of = { id, readManifest, registry, cacheDir, fleetDir: manifest.dir, compile }
  return () => prepare({ ...of, onRefused, onAccepted, onEnv: (env) => parts.secrets.learn(Object.values(env)) })
}

function sharedDeps(parts: MakerParts): Omit<AgentDeps, 'prepare'> {
  const {
    clock,
    host,
    report,
    intentOf,
    supervisorOf,
    shuttingDown,
    log,
    threads,
    watches,
    request,
    store,
    records,
    secrets,
    onMoved,
  } = parts
  return {
    clock,
    newId,
    report,
    intentOf,
    shuttingDown,
    begin: (agent, instance) =>
      store.write((tx) => {
        const epoch = tx.agents.nextEpoch(agent)
        tx.instances.began({ agent, instance, epoch, startedAt: clock.wall() })
        return epoch
      }),
    ...besideDeps(parts),
    ...tracedDeps(parts),
    router: { ...routerOf(host, clock), request },
    threads,
    journal: journalStore(store, clock),
    decide: (agent, death) => supervisorOf(agent).decide(agent, death),
    onPhase: (agent, from, to) => {
      report('agent.phase', { from, to, status: agent.status }, { agent: agent.id })
      host.onPhase(agent, to)
      onMoved(agent)
    },
    onChange: (agent) => host.onChange(agent),
    onDeath: (agent, record) => {
      reportDeath(report, record)
      records.death(record)
      watches.onDeath(agent, record)
      host.onDeath(record)
      host.onChange(agent)
    },
    onDeadLetter: (agent, message, read) => {
      const id = records.deadLetter(agent, message)
      host.metrics.onDeadLetter(agent, message.reason)
      host.onDeadLetter(() => ({ ...read(), id }))
    },
    onOutput: createOutput(log, clock, secrets, (output) => host.onOutput(output)),
    hide: (record) => (record.error === undefined ? record : { ...record, error: secrets.hideIn(record.error) }),
  }
}

function tracedDeps({ tracing, log, secrets }: MakerParts): Pick<AgentDeps, 'inbox'> {
  if (tracing === null) return {}
  return { inbox: tracedInbox(new Traces({ tracing, log, hide: (text) => secrets.hide(text) })) }
}

/** For an instance that boots beside the one there is. */
function besideDeps({
  clock,
  host,
  report,
  store,
  records,
  supervisorOf,
}: MakerParts): Pick<AgentDeps, 'beginNext' | 'bringIntoForce' | 'onDropped'> {
  return {
    beginNext: (agent, instance) =>
      store.write((tx) => {
        const epoch = tx.agents.nextEpochBeside(agent)
        tx.instances.began({ agent, instance, epoch, startedAt: clock.wall() })
        return epoch
      }),
    bringIntoForce: (agent) => store.bringIntoForce(agent),
    onDropped: (agent, draft, by) => {
      const supervisor = supervisorOf(agent.id).id
      const record: DeathRecord = {
        ...draft,
        decision: { rule: 'command', action: 'none', supervisor, attempt: 0, by },
      }
      if (agent.deaths.push(record) > KEPT_DEATHS) agent.deaths.shift()
      reportDeath(report, record)
      records.death(record)
      host.onDeath(record)
      host.onChange(agent)
      return record
    },
  }
}

function reportDeath(report: Report, record: DeathRecord): void {
  const { agent, instance, epoch, id: deathId, cause, class: kind, decision, error, inFlight } = record
  const flying =
    inFlight.length === 0 ? '' : `, in flight: ${inFlight.map(({ name, id }) => `'${name}' (${id})`).join(', ')}`
  const step = record.step === undefined ? '' : ` at step '${record.step}'`
  const why = error === undefined ? '' : `: ${error.message}`
  const text = `${kind === 'normal' ? 'ended' : 'died'} (${cause}${step})${why}${flying}`
  report(
    kind === 'normal' ? 'agent.ended' : 'agent.died',
    { deathId, cause, class: kind, text },
    { agent, instance, epoch },
  )
  if (decision.action !== 'restart') return
  const { attempt, supervisor, delayMs = 0, rule, by } = decision
  const along = rule === 'strategy' && by !== undefined ? { along: by } : {}
  report('agent.restart_scheduled', { attempt, supervisor, delayMs, ...along }, { agent })
}

/** From agent to agent, as a program would send; a tell to nobody is a dead letter of its sender. */
function routerOf(host: Host, clock: Clock): Omit<Router, 'request'> {
  const { directory } = host
  return {
    now: () => clock.now(),
    tell: (from, to, name, payload, options) => {
      const agent = directory.find(to)
      if (agent !== undefined) return agent.inbox.tell(name, payload, options, from)
      directory.find(from)?.deadLetters.add({
        id: 0,
        to,
        from,
        name,
        reason: 'no_such_agent',
        kind: 'event',
        body: encodePayload(payload),
        deliveryCount: 0,
      })
      return false
    },
    emit: async (from, to, name, payload, options) => directory.get(to).inbox.emit(name, payload, options, from),
    ask: async (from, to, name, payload, options) => {
      const { inbox, spec } = directory.get(to)
      const asked = inbox.ask(name, payload, options, from)
      return from === to ? asked.catch((error) => Promise.reject(ofItself(error, spec.mailbox.concurrency))) : asked
    },
  }
}

/** Whoever waits for itself waits in vain where nothing more is handled at once; the time-out says so. */
function ofItself(error: unknown, concurrency: number): unknown {
  if (!(error instanceof HoltError) || error.code !== 'Timeout') return error
  return new HoltError(
    'Timeout',
    `${error.message}: it asked itself, and handles ${concurrency} at a time`,
    error.details,
  )
}

/** An agent whose manifest cannot be read is shown under its id, with the defaults. */
function actorSpec({ id, result }: AgentChild): AgentSpec {
  if (result.ok) return result.manifest
  const { version, mailbox, limits, restart } = DEFAULTS
  return { id, name: id, version, autostart: true, mailbox, limits, restart }
}
