/**
 * The files of a state directory before and while SQLite has them: made for their owner alone, looked at before they
 * are opened, and watched for being deleted or replaced under a running host.
 *
 * Nothing here opens a file that SQLite may have open: to close any descriptor of a file drops all locks that the
 * process holds on it.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { describeError, HoltError } from '../model/error.ts'
import { type StateCode, stateFault } from './faults.ts'

const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600
const OTHERS = 0o077

/** The kind of fault an error of the file system is. */
const CODES: Readonly<Record<string, readonly [StateCode, string]>> = {
  ENOSPC: ['StateFull', 'the disk is full; make room'],
  EDQUOT: ['StateFull', 'the quota is used up; make room'],
  EROFS: ['StateUnwritable', 'the file system is read-only; mount it for writing, or choose another with --state'],
  EACCES: ['StateUnwritable', 'permission is denied; check its owner and mode and those of the folders above it'],
  EPERM: ['StateUnwritable', 'permission is denied; check its owner and mode and those of the folders above it'],
  EEXIST: ['StateUnreadable', 'something that is no folder is in its place; move that away'],
  ENOTDIR: ['StateUnreadable', 'something above it is no folder; choose another with --state'],
}

function cannot(doing: string, path: string, error: unknown): HoltError {
  const { code = '', message } = describeError(error)
  const [kind, text] = CODES[code] ?? ['StateUnreadable', message]
  return stateFault(kind, path, `${path} cannot be ${doing}: ${text}`, {}, error)
}

/**
 * The folder, there and for its owner alone (0700).
 * @throws HoltError `StateUnreadable` where it is another's or no folder, `StateUnwritable`, `StateFull`
 */
export function preparePrivateFolder(dir: string): void {
  if (!isAbsolute(dir)) {
    throw new HoltError('InvalidOption', `The state directory is to be an absolute path, found '${dir}'`, { dir })
  }
  makeFolder(dir)
  const stats = statsOf(dir)
  if (stats === undefined || !stats.isDirectory()) throw cannot('used', dir, { code: 'EEXIST', message: '' })
  ownOrRefuse(dir, stats, PRIVATE_FOLDER)
  allowedOrRefuse(dir, constants.R_OK, 'read')
  allowedOrRefuse(dir, constants.W_OK | constants.X_OK, 'written to')
}

/** With all above it. One by one: Node's own way says of a read-only file system that nothing is there. */
function makeFolder(dir: string): void {
  try {
    if (statSync(dir, { throwIfNoEntry: false }) !== undefined) return
    if (dirname(dir) !== dir) makeFolder(dirname(dir))
    mkdirSync(dir, { mode: PRIVATE_FOLDER })
  } catch (error) {
    if (error instanceof HoltError) throw error
    // Another made it in this moment.
    if (describeError(error).code !== 'EEXIST') throw cannot('made', dir, error)
  }
}

/**
 * The file, there (empty where it is new) and for its owner alone (0600).
 * @returns whether it was made now
 * @throws HoltError `StateUnreadable`, `StateUnwritable`, `StateFull`
 */
export function preparePrivateFile(path: string): boolean {
  const stats = statsOf(path)
  if (stats === undefined) return make(path)
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a folder' : 'something else'
    throw stateFault(
      'StateUnreadable',
      path,
      `Expected a file at ${path}, found ${kind}. Move it away, then start again`,
    )
  }
  ownOrRefuse(path, stats, PRIVATE_FILE)
  if (!allowed(path, constants.R_OK)) {
    throw stateFault('StateUnreadable', path, `${path} cannot be read: permission is denied. chmod 600 it as its owner`)
  }
  allowedOrRefuse(path, constants.W_OK, 'written')
  return false
}

function make(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE))
    return true
  } catch (error) {
    // Another host made it in this moment; the lock says who goes on.
    if (describeError(error).code === 'EEXIST' && statsOf(path)?.isFile() === true) return false
    throw cannot('made', path, error)
  }
}

/** Undefined where nothing is; the target of a link. */
function statsOf(path: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    // A link to nowhere: SQLite would make its target, in a place nobody looked at.
    if (found === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
      throw stateFault('StateUnreadable', path, `${path} is a link to nowhere. Mend or remove it, then start again`)
    }
    return found
  } catch (error) {
    throw error instanceof HoltError ? error : cannot('looked at', path, error)
  }
}

/** Another user's is refused: what this one left in it, its owner could not use any more. */
function ownOrRefuse(path: string, stats: Stats, mode: number): void {
  const uid = process.getuid?.() ?? stats.uid
  if (stats.uid !== uid) {
    const text = `${path} belongs to user ${stats.uid}, and this is user ${uid}. Run the host as its owner, or chown it`
    throw stateFault('StateUnreadable', path, text, { owner: stats.uid, user: uid })
  }
  if ((stats.mode & OTHERS) === 0) return
  try {
    chmodSync(path, mode)
  } catch (error) {
    throw cannot(`closed to others (chmod ${mode.toString(8)})`, path, error)
  }
}

function allowed(path: string, access: number): boolean {
  try {
    accessSync(path, access)
    return true
  } catch {
    return false
  }
}

function allowedOrRefuse(path: string, access: number, doing: string): void {
  try {
    accessSync(path, access)
  } catch (error) {
    throw cannot(doing, path, error)
  }
}

interface Watched {
  readonly path: string
  readonly device: number
  readonly inode: number
}

/** Remembers which files those are that SQLite has open, and says which of them is no longer at its path. */
export class FileWatch {
  readonly #files: readonly Watched[]

  /** @param paths all of them exist */
  constructor(paths: readonly string[]) {
    this.#files = paths.map((path) => {
      const { dev, ino } = statSync(path)
      return { path, device: dev, inode: ino }
    })
  }

  /** Null: all are where they were. Three to four microseconds a file, against some hundred of a commit. */
  fault(): HoltError | null {
    for (const { path, device, inode } of this.#files) {
      const found = peek(path)
      if (found?.ino === inode && found.dev === device) continue
      const what = found === undefined ? 'deleted' : 'replaced'
      const text =
        `${path} was ${what} while the host (pid ${process.pid}) has it open: nothing is saved any more. ` +
        'Put the file back, or restart the host to go on with what is there'
      return stateFault('StateReplaced', path, text, { what })
    }
    return null
  }
}

function peek(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
