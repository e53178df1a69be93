/** Fields that several operations have in their input, and how a row is written. */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { MAX_TIMER_MS } from '../../platform/clock.ts'
import type { CallOperation, StreamOperation } from '../operation.ts'

/** A plain text: an unknown id is answered by the host, which names the nearest. */
export const id = z.string().describe('id of the agent')
export const name = z.string().min(1)
export const reason = z.exactOptional(z.string().describe('why, as recorded'))
export const now = z.exactOptional(z.boolean().describe('without grace'))
export const payload = z.exactOptional(z.unknown().describe('JSON data'))
export const ifGeneration = z.exactOptional(z.int().min(0))
export const dryRun = z.exactOptional(z.boolean())
export const ms = z.number().max(MAX_TIMER_MS)

export const number = z.int().min(1)
export const limit = z.int().min(1).max(1000)

/** Of the host's machine; the host stands in another folder than whoever asks. */
export const path = z.string().refine(isAbsolute, { error: 'expected an absolute path' }).describe('folder or tarball')

export const nothing = z.strictObject({})
export const ofDeadLetter = z.strictObject({ letter: number, dryRun })
export const ofAgent = z.strictObject({ id })
export const ofSome = z.strictObject({ id: z.exactOptional(id) })

/** A row under its own name, so that a test holds the client's types against what goes in and out. */
type Call<N extends string, I, O> = CallOperation<I, O> & { readonly name: N }
type Stream<N extends string, I, O> = StreamOperation<I, O> & { readonly name: N }

export const call = <const N extends string, I, O>(row: Omit<Call<N, I, O>, 'kind'>): Call<N, I, O> =>
  ({ kind: 'call', ...row }) as Call<N, I, O>
export const stream = <const N extends string, I, O>(row: Omit<Stream<N, I, O>, 'kind'>): Stream<N, I, O> =>
  ({ kind: 'stream', ...row }) as Stream<N, I, O>
