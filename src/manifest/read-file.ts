/**
 * Reads one small regular file. A folder, a pipe or a device in its place is refused before it is opened, since a read
 * of a pipe would never end; so is a file too large to be what it claims to be.
 */
import { readFile, stat } from 'node:fs/promises'
import type { Finding } from './fault.ts'

export const MAX_FILE_BYTES = 262_144

export type ReadResult =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly missing: boolean; readonly finding: Finding }

const EXPECTED = 'a file that can be read'

/** The system's word for a failed call. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

const refuse = (found: string, missing = false): ReadResult => ({
  ok: false,
  missing,
  finding: { expected: EXPECTED, found },
})

export async function readSmallFile(file: string): Promise<ReadResult> {
  try {
    const stats = await stat(file)
    if (stats.isDirectory()) return refuse('a folder')
    if (!stats.isFile()) return refuse('a pipe, a socket or a device')
    if (stats.size > MAX_FILE_BYTES) return refuse(`${stats.size} bytes, more than ${MAX_FILE_BYTES}`)
    return { ok: true, bytes: await readFile(file) }
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? refuse('nothing', true) : refuse(`an error (${code})`)
  }
}
