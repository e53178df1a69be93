/**
 * The operations: the one table from which the socket, REST, OpenAPI and the CLI's help are made. A row says what goes in
 * and out, who may, where REST has it and how the CLI writes it; `run` is one line down into the host. To add an
 * ability: in `host/` first, then a row here.
 */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import type { Command } from '../model/intent.ts'
import { DEFAULT_ASK_TIMEOUT_MS } from '../model/message.ts'
import { MAX_TIMER_MS } from '../platform/clock.ts'
import { handlerError } from './handler-error.ts'
import type { CallOperation, Operation, StreamOperation } from './operation.ts'
import * as shapes from './shapes.ts'

/** A plain text: an unknown id is answered by the host, which names the nearest. */
const id = z.string().describe('id of the agent')
const name = z.string().min(1)
const reason = z.exactOptional(z.string().describe('why, as recorded'))
const now = z.exactOptional(z.boolean().describe('without grace'))
const payload = z.exactOptional(z.unknown().describe('JSON data'))
const ifGeneration = z.exactOptional(z.int().min(0))
const dryRun = z.exactOptional(z.boolean())
const ms = z.number().max(MAX_TIMER_MS)

const number = z.int().min(1)
const limit = z.int().min(1).max(1000)

/** Of the host's machine; the host stands in another folder than whoever asks. */
const path = z.string().refine(isAbsolute, { error: 'expected an absolute path' }).describe('folder or tarball')

const nothing = z.strictObject({})
const ofDeadLetter = z.strictObject({ letter: number })
const ofAgent = z.strictObject({ id })
const ofSome = z.strictObject({ id: z.exactOptional(id) })

const call = <I, O>(row: Omit<CallOperation<I, O>, 'kind'>): Operation => ({ kind: 'call', ...row })
const stream = <I, O>(row: Omit<StreamOperation<I, O>, 'kind'>): Operation => ({ kind: 'stream', ...row })

/** A command to an agent; to a supervisor where `output` allows for its answer. */
const command = <O>(
  verb: Command,
  { summary, access = 'control', output, graceful = false }: CommandRow<O>,
): Operation =>
  call({
    name: verb,
    summary,
    access,
    input: z.strictObject({
      id,
      reason,
      ifGeneration,
      dryRun,
      ...(graceful ? { now } : {}),
    }) as z.ZodType<CommandInput>,
    output,
    positional: ['id'],
    rest: { verb: 'POST', path: `/agents/{id}/${verb}` },
    cli: `ID [--reason TEXT] [--if-generation N] [--dry-run]${graceful ? ' [--now]' : ''}`,
    run: (host, { id: target, ...options }, { who }) =>
      host.command(target, verb, { ...options, by: who }) as Promise<O>,
  })

interface CommandRow<O> {
  readonly summary: string
  readonly access?: Operation['access']
  readonly output: z.ZodType<O>
  /** It waits for what runs, unless told not to. */
  readonly graceful?: boolean
}

interface CommandInput {
  readonly id: string
  readonly reason?: string
  readonly now?: boolean
  readonly ifGeneration?: number
  readonly dryRun?: boolean
}

const ofAgentOrSupervisor = z.union([shapes.commandAnswer, shapes.supervisorAnswer])
const ofAgentAlone = shapes.commandAnswer

const LOOKING: readonly Operation[] = [
  call({
    name: 'summary',
    summary: 'what this host is, and how many agents are in which status',
    access: 'read',
    input: nothing,
    output: shapes.summary,
    positional: [],
    rest: { verb: 'GET', path: '/' },
    cli: null,
    run: (host) => host.summary(),
  }),
  call({
    name: 'status',
    summary: 'the host and every agent',
    access: 'read',
    input: nothing,
    output: shapes.fleetSnapshot,
    positional: [],
    rest: { verb: 'GET', path: '/fleet' },
    cli: '',
    run: (host) => host.fleet(),
  }),
  call({
    name: 'list',
    summary: 'every agent',
    access: 'read',
    input: nothing,
    output: z.array(shapes.agentSnapshot),
    positional: [],
    rest: { verb: 'GET', path: '/agents' },
    cli: '',
    run: (host) => [...host.fleet().agents],
  }),
  call({
    name: 'get',
    summary: 'one agent in detail: what it is equipped with, may call and has done',
    access: 'read',
    input: ofAgent,
    output: shapes.agentDetail,
    positional: ['id'],
    rest: { verb: 'GET', path: '/agents/{id}' },
    cli: 'ID',
    run: (host, input) => host.detail(input.id),
  }),
  call({
    name: 'commands',
    summary: 'what an agent answers to, as its newest instance said',
    access: 'read',
    input: ofAgent,
    output: z.array(shapes.command),
    positional: ['id'],
    rest: { verb: 'GET', path: '/agents/{id}/commands' },
    cli: 'ID',
    run: (host, input) => [...host.agent(input.id).commands()],
  }),
  call({
    name: 'capabilities',
    summary: 'what the host lends, and to whom',
    access: 'read',
    input: nothing,
    output: z.array(shapes.capability),
    positional: [],
    rest: { verb: 'GET', path: '/capabilities' },
    cli: '',
    run: (host) => [...host.capabilities()],
  }),
  call({
    name: 'tree',
    summary: 'the supervisors and their children',
    access: 'read',
    input: nothing,
    output: shapes.treeNode,
    positional: [],
    rest: { verb: 'GET', path: '/tree' },
    cli: '',
    run: (host) => host.tree(),
  }),
  call({
    name: 'deaths',
    summary: 'how instances ended, of one agent or of all, the newest at the end',
    access: 'read',
    input: ofSome,
    output: z.array(shapes.deathRecord),
    positional: ['id'],
    rest: { verb: 'GET', path: '/deaths', agentPath: '/agents/{id}/deaths' },
    cli: '[ID]',
    run: (host, input) => [...host.deaths(input.id)],
  }),
  call({
    name: 'why',
    summary: 'why an agent is where it is, and what would change it',
    access: 'read',
    input: ofAgent,
    output: shapes.why,
    positional: ['id'],
    rest: { verb: 'GET', path: '/agents/{id}/why' },
    cli: 'ID',
    run: (host, input) => host.why(input.id),
  }),
  call({
    name: 'mailbox',
    summary: 'what waits for an agent, and what it is at since when',
    access: 'read',
    input: ofAgent,
    output: shapes.mailboxView,
    positional: ['id'],
    rest: { verb: 'GET', path: '/agents/{id}/mailbox' },
    cli: 'ID',
    run: (host, input) => host.mailbox(input.id),
  }),
  call({
    name: 'schedules',
    summary: 'what is sent to an agent by the clock, when next, and what the last time came to',
    access: 'read',
    input: ofAgent,
    output: z.array(shapes.scheduleView),
    positional: ['id'],
    rest: { verb: 'GET', path: '/agents/{id}/schedules' },
    cli: 'ID',
    run: (host, input) => [...host.schedules(input.id)],
  }),
  call({
    name: 'deadLetters',
    summary: 'messages that were not handled, of one agent or of all, the newest at the end',
    access: 'read',
    input: z.strictObject({ id: z.exactOptional(id), before: z.exactOptional(number), limit: z.exactOptional(limit) }),
    output: z.array(shapes.deadLetter),
    positional: ['id'],
    rest: { verb: 'GET', path: '/dead-letters', agentPath: '/agents/{id}/dead-letters' },
    cli: '[ID] [--before N] [--limit N]',
    run: (host, { id: agent, ...page }) => host.deadLetters.list(agent, page),
  }),
  stream({
    name: 'watch',
    summary: 'every fact from now on, of one agent or of all',
    access: 'read',
    input: ofSome,
    output: shapes.fact,
    positional: ['id'],
    rest: { verb: 'GET', path: '/events', agentPath: '/agents/{id}/events' },
    cli: '[ID]',
    open: (host, input) => host.facts(input.id),
  }),
  stream({
    name: 'logs',
    summary: 'every line that agents print or log from now on, of one agent or of all',
    access: 'read',
    input: ofSome,
    output: shapes.output,
    positional: ['id'],
    rest: { verb: 'GET', path: '/logs', agentPath: '/agents/{id}/logs' },
    cli: '[ID]',
    open: (host, input) => host.output(input.id),
  }),
]

const COMMANDING: readonly Operation[] = [
  command('start', {
    summary: 'starts an agent, or what a supervisor keeps; reads the files of the agent again',
    output: ofAgentOrSupervisor,
  }),
  command('stop', {
    summary: 'ends an agent once what it is at has ended, or all that a supervisor keeps',
    output: ofAgentOrSupervisor,
    graceful: true,
  }),
  command('restart', {
    summary: 'ends and starts an agent and keeps its mailbox, or all that a supervisor keeps',
    output: ofAgentOrSupervisor,
  }),
  command('pause', {
    summary: 'lets an agent finish what it is at and begin nothing more; its thread stays',
    output: ofAgentAlone,
    graceful: true,
  }),
  command('resume', { summary: 'lets a paused agent go on', output: ofAgentAlone }),
  command('activate', { summary: 'starts an agent that was suspended or stopped', output: ofAgentAlone }),
  command('suspend', {
    summary: 'aborts what an agent is at, frees its thread and keeps its mailbox',
    output: ofAgentAlone,
  }),
  command('kill', { summary: 'ends the thread of an agent now; its supervisor decides', output: ofAgentAlone }),
]

const SENDING: readonly Operation[] = [
  call({
    name: 'emit',
    summary: 'sends an event to an agent and answers what became of it',
    access: 'control',
    input: z.strictObject({ id, event: name, payload, ttlMs: z.exactOptional(ms.min(0)) }),
    output: shapes.fate,
    positional: ['id', 'event', 'payload'],
    rest: { verb: 'POST', path: '/agents/{id}/events' },
    cli: 'ID EVENT [JSON] [--ttl-ms N]',
    run: (host, input) =>
      host.agent(input.id).emit(input.event, input.payload, input.ttlMs === undefined ? {} : { ttlMs: input.ttlMs }),
  }),
  call({
    name: 'ask',
    summary: 'asks an agent and answers with its reply',
    access: 'control',
    input: z.strictObject({ id, command: name, payload, timeoutMs: z.exactOptional(ms.positive()) }),
    output: z.unknown(),
    positional: ['id', 'command', 'payload'],
    rest: { verb: 'POST', path: '/agents/{id}/ask' },
    cli: 'ID COMMAND [JSON] [--timeout-ms N]',
    run: async (host, { timeoutMs = DEFAULT_ASK_TIMEOUT_MS, ...input }) => {
      const agent = host.agent(input.id)
      try {
        return await agent.ask(input.command, input.payload, { timeoutMs })
      } catch (error) {
        throw handlerError(error)
      }
    },
  }),
  call({
    name: 'purge',
    summary: 'takes out what waits for an agent and has not been handed to its thread',
    access: 'control',
    input: ofAgent,
    output: shapes.purged,
    positional: ['id'],
    rest: { verb: 'POST', path: '/agents/{id}/mailbox/purge' },
    cli: 'ID',
    run: (host, input) => host.purge(input.id),
  }),
  call({
    name: 'replay',
    summary: 'sends a dead letter to its agent again',
    access: 'control',
    input: ofDeadLetter,
    output: shapes.fate,
    positional: ['letter'],
    rest: { verb: 'POST', path: '/dead-letters/{letter}/replay' },
    cli: 'LETTER',
    run: (host, input) => host.deadLetters.replay(input.letter),
  }),
  call({
    name: 'discard',
    summary: 'throws a dead letter away',
    access: 'control',
    input: ofDeadLetter,
    output: shapes.deadLetter,
    positional: ['letter'],
    rest: { verb: 'POST', path: '/dead-letters/{letter}/discard' },
    cli: 'LETTER',
    run: (host, input) => host.deadLetters.discard(input.letter),
  }),
  call({
    name: 'shutdown',
    summary: 'ends the host; answers once everything has ended',
    access: 'admin',
    input: z.strictObject({ timeoutMs: z.exactOptional(ms.min(0)) }),
    output: shapes.shutdownReport,
    positional: [],
    rest: { verb: 'POST', path: '/shutdown' },
    cli: '[--timeout-ms N]',
    run: (host, input, { who }) => host.shutdown({ ...input, by: who }),
  }),
]

const INSTALLING: readonly Operation[] = [
  call({
    name: 'catalog',
    summary: 'agents that were installed while a host ran, and how they stand',
    access: 'read',
    input: nothing,
    output: z.array(shapes.catalogItem),
    positional: [],
    rest: { verb: 'GET', path: '/catalog' },
    cli: '',
    run: (host) => host.catalog.list(),
  }),
  call({
    name: 'install',
    summary: 'makes an agent in a folder or a tarball a member of the fleet, or takes a newer version of it',
    access: 'admin',
    input: z.strictObject({ source: path, dryRun }),
    output: shapes.installAnswer,
    positional: ['source'],
    rest: { verb: 'POST', path: '/catalog' },
    cli: 'SOURCE [--dry-run]',
    run: (host, { source, ...options }, { who }) => host.catalog.install(source, { ...options, by: who }),
  }),
  call({
    name: 'uninstall',
    summary: 'takes an installed agent out of the fleet, with all it has kept',
    access: 'admin',
    input: z.strictObject({ name: id, dryRun }),
    output: shapes.uninstallAnswer,
    positional: ['name'],
    rest: { verb: 'DELETE', path: '/catalog/{name}' },
    cli: 'NAME [--dry-run]',
    run: (host, { name: target, ...options }, { who }) => host.catalog.uninstall(target, { ...options, by: who }),
  }),
]

/** Every operation, in the order in which help lists them. */
export const OPERATIONS: readonly Operation[] = [...LOOKING, ...COMMANDING, ...SENDING, ...INSTALLING]
