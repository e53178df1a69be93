/** Operations on tokens. Over the socket only: whoever has a token makes no others with it. */
import { z } from 'zod'
import { ACCESSES } from '../../model/access.ts'

import * as shapes from '../shapes.ts'
import { call, nothing } from './fields.ts'

const MAX_NAME = 64
const TEN_YEARS_MS = 315_576_000_000

const label = z.string().regex(/^[\w@.:-][\w @.:-]*$/, { error: 'expected letters, digits, blanks and _ @ . : -' })

export const TOKENS = [
  call({
    name: 'tokens',
    summary: 'who may call over the network, and when each has last',
    access: 'admin',
    input: nothing,
    output: z.array(shapes.token),
    positional: [],
    rest: null,
    cli: '',
    run: (host) => host.tokens.list(),
  }),
  call({
    name: 'tokenCreate',
    summary: 'makes a token and answers with it, this once',
    access: 'admin',
    input: z.strictObject({
      name: label.max(MAX_NAME).describe('for people'),
      access: z.exactOptional(z.enum(ACCESSES)),
      expiresInMs: z.exactOptional(z.number().positive().max(TEN_YEARS_MS)),
    }),
    output: shapes.createdToken,
    positional: ['name'],
    rest: null,
    cli: 'NAME [--access ACCESS] [--expires-in-ms N]',
    run: (host, input) => host.tokens.create(input),
  }),
  call({
    name: 'tokenRevoke',
    summary: 'takes a token back: it opens nothing from now on',
    access: 'admin',
    input: z.strictObject({ id: z.string().describe('id of the token, as `tokens` has it') }),
    output: shapes.token,
    positional: ['id'],
    rest: null,
    cli: 'ID',
    run: (host, input) => host.tokens.revoke(input.id),
  }),
] as const
