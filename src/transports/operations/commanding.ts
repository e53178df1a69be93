/** Operations that command an agent, or a supervisor. */
import { z } from 'zod'
import type { Command } from '../../model/intent.ts'
import * as shapes from '../shapes.ts'
import { call, dryRun, id, ifGeneration, now, reason } from './fields.ts'

const plain = z.strictObject({ id, reason, ifGeneration, dryRun })
/** Of those that wait for what runs, unless told not to. */
const graceful = z.strictObject({ id, reason, ifGeneration, dryRun, now })

/** A command to an agent; to a supervisor where `output` allows for its answer. */
const command = <const V extends Command, I extends z.ZodType<z.output<typeof graceful>>, O extends z.ZodType>(
  verb: V,
  { summary, input, output }: { readonly summary: string; readonly input: I; readonly output: O },
) =>
  call({
    name: verb,
    summary,
    access: 'control',
    input,
    output,
    positional: ['id'],
    rest: { verb: 'POST', path: `/agents/{id}/${verb}` },
    cli: `ID [--reason TEXT] [--if-generation N] [--dry-run]${input instanceof z.ZodObject && 'now' in input.shape ? ' [--now]' : ''}`,
    run: (host, given, { who }) => {
      const { id: target, ...options }: z.output<typeof graceful> = given
      return host.command(target, verb, { ...options, by: who }) as Promise<z.output<O>>
    },
  })

const ofAgentOrSupervisor = z.union([shapes.commandAnswer, shapes.supervisorAnswer])
const ofAgentAlone = shapes.commandAnswer

export const COMMANDING = [
  command('start', {
    summary: 'starts an agent, or what a supervisor keeps; reads the files of the agent again',
    input: plain,
    output: ofAgentOrSupervisor,
  }),
  command('stop', {
    summary: 'ends an agent once what it is at has ended, or all that a supervisor keeps',
    output: ofAgentOrSupervisor,
    input: graceful,
  }),
  command('restart', {
    summary: 'ends and starts an agent and keeps its mailbox, or all that a supervisor keeps',
    input: plain,
    output: ofAgentOrSupervisor,
  }),
  command('pause', {
    summary: 'lets an agent finish what it is at and begin nothing more; its thread stays',
    output: ofAgentAlone,
    input: graceful,
  }),
  command('resume', { summary: 'lets a paused agent go on', input: plain, output: ofAgentAlone }),
  command('activate', { summary: 'starts an agent that was suspended or stopped', input: plain, output: ofAgentAlone }),
  command('suspend', {
    summary: 'aborts what an agent is at, frees its thread and keeps its mailbox',
    input: plain,
    output: ofAgentAlone,
  }),
  command('kill', {
    summary: 'ends the thread of an agent now; its supervisor decides',
    input: plain,
    output: ofAgentAlone,
  }),
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
] as const
