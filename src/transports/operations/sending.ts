/** Operations on messages, and the end of the host. */
import { z } from 'zod'
import { DEFAULT_ASK_TIMEOUT_MS } from '../../model/message.ts'
import { handlerError } from '../handler-error.ts'
import type { Operation } from '../operation.ts'
import * as shapes from '../shapes.ts'
import { call, id, ms, name, ofAgent, ofDeadLetter, payload } from './fields.ts'

export const SENDING: readonly Operation[] = [
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
