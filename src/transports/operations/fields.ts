/** Fields that several operations have in their input, and how a row is written. */
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { MAX_TIMER_MS } from '../../platform/clock.ts'
import type { CallOperation, Operation, StreamOperation } from '../operation.ts'

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

export const call = <I, O>(row: Omit<CallOperation<I, O>, 'kind'>): Operation => ({ kind: 'call', ...row })
export const stream = <I, O>(row: Omit<StreamOperation<I, O>, 'kind'>): Operation => ({ kind: 'stream', ...row })
