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

/** What a row has under its own types, so that a test holds the client's against what goes in and out. */
export interface Own<N extends string, I extends z.ZodType, O extends z.ZodType> {
  readonly name: N
  readonly input: I
  readonly output: O
}
type Call<I extends z.ZodType, O extends z.ZodType> = CallOperation<z.output<I>, z.output<O>>
type Stream<I extends z.ZodType, O extends z.ZodType> = StreamOperation<z.output<I>, z.output<O>>
/** As it is written: all but what its own types and `call` or `stream` say. */
type Rest<R> = Omit<R, 'kind' | keyof Own<string, z.ZodType, z.ZodType>>

export const call = <const N extends string, I extends z.ZodType, O extends z.ZodType>(
  row: Own<N, I, O> & Rest<Call<I, O>>,
) => ({ kind: 'call', ...row }) as unknown as Call<I, O> & Own<N, I, O>
export const stream = <const N extends string, I extends z.ZodType, O extends z.ZodType>(
  row: Own<N, I, O> & Rest<Stream<I, O>>,
) => ({ kind: 'stream', ...row }) as unknown as Stream<I, O> & Own<N, I, O>
