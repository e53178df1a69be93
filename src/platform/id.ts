/** Identifiers and secrets. Handed in where a test must know them. */
import { randomBytes } from 'node:crypto'

export type NewId = (prefix: string) => string

/** `prefix_` and 16 hex digits. */
export const newId: NewId = (prefix) => `${prefix}_${randomBytes(8).toString('hex')}`

/** A secret of 32 bytes, as hex. */
export const newSecret = (): string => randomBytes(32).toString('hex')
