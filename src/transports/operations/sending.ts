/** Operations on messages, and the end of the host. */
import { z } from 'zod'
import { drainForecast } from '../../host/drain.ts'
import { emitForecast, letterForecast, purgeForecast, shutdownForecast } from '../../host/forecasts.ts'
import { DEFAULT_ASK_TIMEOUT_MS, type Traced } from '../../model/message.ts'
import { handlerError } from '../handler-error.ts'
import type { Caller } from '../operation.ts'
import * as shapes from '../shapes.ts'
import { call, dryRun, id, ms, name, ofDeadLetter, payload } from './fields.ts'

export const SENDING = [
  call({
    name: 'emit',
    summary: 'sends an event to an agent and answers what became of it',
    access: 'control',
    input: z.strictObject({ id, event: name, payload, ttlMs: z.exactOptional(ms.min(0)), dryRun }),
    output: z.union([shapes.fate, shapes.forecast]),
    positional: ['id', 'event', 'payload'],
    rest: { verb: 'POST', path: '/agents/{id}/events' },
    cli: 'ID EVENT [JSON] [--ttl-ms N] [--dry-run]',
    run: (host, { id: to, event, payload: value, ttlMs, dryRun: dry }, caller) =>
      dry === true
        ? emitForecast(host.directory.get(to), event)
        : host.agent(to).emit(event, value, { ...(ttlMs === undefined ? {} : { ttlMs }), ...traceOf(caller) }),
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
    run: async (host, { timeoutMs = DEFAULT_ASK_TIMEOUT_MS, ...input }, caller) => {
      const agent = host.agent(input.id)
      try {
        return await agent.ask(input.command, input.payload, { timeoutMs, ...traceOf(caller) })
      } catch (error) {
        // It says whatever a handler has thrown, and goes to whoever may ask.
        throw host.secrets.hideIn(handlerError(error))
      }
    },
  }),
  call({
    name: 'purge',
    summary: 'takes out what waits for an agent and has not been handed to its thread',
    access: 'control',
    input: z.strictObject({ id, dryRun }),
    output: z.union([shapes.purged, shapes.forecast]),
    positional: ['id'],
    rest: { verb: 'POST', path: '/agents/{id}/mailbox/purge' },
    cli: 'ID [--dry-run]',
    run: (host, input) => (input.dryRun === true ? purgeForecast(host.directory.get(input.id)) : host.purge(input.id)),
  }),
  call({
    name: 'replay',
    summary: 'sends a dead letter to its agent again',
    access: 'control',
    input: ofDeadLetter,
    output: z.union([shapes.fate, shapes.forecast]),
    positional: ['letter'],
    rest: { verb: 'POST', path: '/dead-letters/{letter}/replay' },
    cli: 'LETTER [--dry-run]',
    run: async (host, { letter, dryRun: dry }) =>
      dry === true ? letterForecast('send again', await host.deadLetters.get(letter)) : host.deadLetters.replay(letter),
  }),
  call({
    name: 'discard',
    summary: 'throws a dead letter away',
    access: 'control',
    input: ofDeadLetter,
    output: z.union([shapes.deadLetter, shapes.forecast]),
    positional: ['letter'],
    rest: { verb: 'POST', path: '/dead-letters/{letter}/discard' },
    cli: 'LETTER [--dry-run]',
    run: async (host, { letter, dryRun: dry }) =>
      dry === true
        ? letterForecast('throw away', await host.deadLetters.get(letter))
        : host.deadLetters.discard(letter),
  }),
  call({
    name: 'shutdown',
    summary: 'ends the host; answers once everything has ended',
    access: 'admin',
    input: z.strictObject({ timeoutMs: z.exactOptional(ms.min(0)), dryRun }),
    output: z.union([shapes.shutdownReport, shapes.forecast]),
    positional: [],
    rest: { verb: 'POST', path: '/shutdown' },
    cli: '[--timeout-ms N] [--dry-run]',
    run: (host, { dryRun: dry, ...input }, { who }) =>
      dry === true ? shutdownForecast(host.directory.all()) : host.shutdown({ ...input, by: who }),
  }),
  call({
    name: 'drain',
    summary: 'takes nothing more from outside, works off what waits, and ends the host; answers once it has ended',
    access: 'admin',
    input: z.strictObject({ deadlineMs: z.exactOptional(ms.min(0)), dryRun }),
    output: z.union([shapes.drainReport, shapes.forecast]),
    positional: [],
    rest: { verb: 'POST', path: '/drain' },
    cli: '[--deadline-ms MS] [--dry-run]',
    run: (host, { dryRun: dry, ...input }, { who }) =>
      dry === true ? drainForecast(host.directory.all()) : host.drain({ ...input, by: who }),
  }),
] as const

const traceOf = ({ traceparent }: Caller): Traced => (traceparent === undefined ? {} : { traceparent })
