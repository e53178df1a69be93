/** Operations that command an agent, or a supervisor. */
import { z } from 'zod'
import type { Command } from '../../model/intent.ts'
import type { Operation } from '../operation.ts'
import * as shapes from '../shapes.ts'
import { call, dryRun, id, ifGeneration, now, reason } from './fields.ts'

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

export const COMMANDING: readonly Operation[] = [
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
  call({
    name: 'reload',
    summary: 'replaces the version of an agent by what its files say now, in front of whoever sends',
    access: 'control',
    input: z.strictObject({ id, reason, ifGeneration, dryRun }),
    output: shapes.reloadAnswer,
    positional: ['id'],
    rest: { verb: 'POST', path: '/agents/{id}/reload' },
    cli: 'ID [--reason TEXT] [--if-generation N] [--dry-run]',
    run: (host, { id: target, ...options }, { who }) => host.reload(target, { ...options, by: who }),
  }),
  call({
    name: 'reloadAll',
    summary: 'reloads every agent that runs, one at a time in start order; stops at the first that fails',
    access: 'control',
    input: z.strictObject({ reason, dryRun }),
    output: shapes.fleetReload,
    positional: [],
    rest: { verb: 'POST', path: '/reload' },
    cli: '[--reason TEXT] [--dry-run]',
    run: (host, options, { who }) => host.reloadAll({ ...options, by: who }),
  }),
]
