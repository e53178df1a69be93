/**
 * Which paths a socket may have. Pure. The platform cuts a path that is too long without a word, and a socket would
 * then be at another place than the one that was asked for.
 */
import { resolve } from 'node:path'
import { HoltError } from '../../model/error.ts'

/** Bytes of a path, without the NUL that ends it. */
export const MAX_PATH_BYTES = process.platform === 'darwin' ? 103 : 107

export const fits = (path: string): boolean => Buffer.byteLength(path) <= MAX_PATH_BYTES

/**
 * The path, absolute.
 * @throws HoltError `InvalidOption`
 */
export function checkPath(path: string): string {
  if (path === '' || path.includes('\0')) throw refused(path, 'expected the path of a socket, found no such thing')
  const absolute = resolve(path)
  if (fits(absolute)) return absolute
  throw refused(
    absolute,
    `expected a path of at most ${MAX_PATH_BYTES} bytes, found one of ${Buffer.byteLength(absolute)}: ${absolute}. ` +
      'Set HOLT_UDS_PATH, or --socket, to a shorter one',
  )
}

export const refused = (path: string, text: string, details: Readonly<Record<string, unknown>> = {}): HoltError =>
  new HoltError('InvalidOption', `socket: ${text}`, { option: 'socket', path, ...details })
