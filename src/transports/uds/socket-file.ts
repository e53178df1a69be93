/**
 * The file of a socket: made so that it is never open to others, never taken from a host that answers, and never removed
 * when it is not ours.
 *
 *     a fresh 0700 folder beside the target ──► bind in it ──► chmod 0600 ──► link onto the public name
 *                                                                              │ refused where something is there
 *     what is there:  nothing ─► link    a socket nobody answers at ─► removed, then link    all else ─► refused
 *
 * The platform removes the name a server was bound to when it closes, whoever has that name by then: ours is bound to
 * the private one, which is gone by that time.
 */
import { type BigIntStats, lstatSync, rmSync } from 'node:fs'
import { chmod, chown, link, lstat, mkdir, mkdtemp, rename, rm, rmdir, stat, symlink, unlink } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describeError, HoltError } from '../../model/error.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import { ownUid } from './fleet-socket.ts'
import { fits, refused } from './socket-path.ts'

export type Seen = 'ours' | 'gone' | 'anothers' | 'unseen'

/** A server that listens, and which file is its own. */
export interface SocketFile {
  readonly path: string
  readonly server: Server
  /** Whose the public name is; 'unseen' where it cannot be looked at. */
  look(): Seen
  /**
   * Removes the public name if it is ours. Synchronous: nothing of this process can come between looking and removing.
   * @returns why it could not be removed, if so
   */
  remove(): string | null
}

export interface SocketFileDeps {
  readonly clock: Clock
  readonly log: Logger
  /** A group whose members may connect; null: its owner alone. */
  readonly gid: number | null
  readonly onConnection: (socket: Socket) => void
  readonly onError: (error: Error) => void
  /** Says who answers at a path, for the refusal. */
  readonly whoAnswers: (path: string) => Promise<string>
}

const ATTEMPTS = 100
/** Of `chown`. */
const KEEP_OWNER = -1
const PAUSE_MS = 20
/** Far longer than a look and a removal take. */
const LOCK_MS = 10_000
/** Clients that may come within one turn; more of them are refused by the platform. */
const BACKLOG = 4096
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const codeOf = (thrown: unknown): string => describeError(thrown).code ?? ''

/** @throws HoltError `InvalidOption` saying what is in the way */
export async function openSocketFile(path: string, deps: SocketFileDeps): Promise<SocketFile> {
  await checkFolder(dirname(path), deps.log)
  for (let attempt = 1; ; attempt++) {
    const stale = await findStale(path, deps)
    const file = await bindAndLink(path, stale, deps)
    if (file !== null) return file
    // Someone else made a file there meanwhile. Look again who it is.
    if (attempt === ATTEMPTS) throw refused(path, `${path} is being made and removed by others all the time`)
    await new Promise<void>((resolve) => deps.clock.after(PAUSE_MS, resolve))
  }
}

/** @throws HoltError `InvalidOption` where anybody could put a file of his own in place of ours */
async function checkFolder(folder: string, log: Logger): Promise<void> {
  const stats = await stat(folder).catch((error: unknown) => {
    throw refused(
      folder,
      `expected a folder at ${folder}, found none that can be used (${describeError(error).message})`,
    )
  })
  if (!stats.isDirectory()) throw refused(folder, `expected a folder at ${folder}, found something else`)
  if (stats.uid !== ownUid() && stats.uid !== 0) {
    log.warn({ folder }, `${folder} belongs to user ${stats.uid}, who could replace the socket`)
  }
  const sticky = (stats.mode & 0o1000) !== 0
  if (!sticky && (stats.mode & 0o002) !== 0) {
    throw refused(folder, `others may write to ${folder} and could replace the socket. Run chmod o-w ${folder}`)
  }
  if (!sticky && (stats.mode & 0o020) !== 0) {
    log.warn({ folder }, `the group of ${folder} may write to it and could replace the socket`)
  }
}

/**
 * Null: the name is free. Else the socket there that nobody answers at.
 * @throws HoltError `InvalidOption` for all that is not ours to remove
 */
async function findStale(path: string, { whoAnswers }: SocketFileDeps): Promise<BigIntStats | null> {
  const stats = await lstat(path, { bigint: true }).catch(() => null)
  if (stats === null) return null
  if (!stats.isSocket()) throw refused(path, `expected a socket or nothing at ${path}, found a file. It was left alone`)
  if (Number(stats.uid) !== ownUid()) {
    throw refused(path, `${path} belongs to user ${stats.uid}, and this is user ${ownUid()}. It was left alone`, {
      uid: Number(stats.uid),
    })
  }
  const answer = await knock(path)
  if (answer === 'ECONNREFUSED') return stats
  if (answer === 'ENOENT') return null
  if (answer !== 'live') throw refused(path, `${path} cannot be tried (${answer}). It was left alone`)
  throw refused(path, `${path} is in use: ${await whoAnswers(path)}. Use that host, or choose another path`, {
    live: true,
  })
}

/** Whether anybody listens there; else why not. A full queue of waiting clients is a listener too. */
function knock(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve('live'))
    socket.on('error', (error) => resolve(codeOf(error) === 'EAGAIN' ? 'live' : codeOf(error)))
    socket.once('connect', () => socket.destroy())
  })
}

/** Null: someone else was quicker. */
async function bindAndLink(path: string, stale: BigIntStats | null, deps: SocketFileDeps): Promise<SocketFile | null> {
  const folders: string[] = []
  const server = createServer({ allowHalfOpen: true }, deps.onConnection)
  try {
    const hidden = await hiddenPath(path, folders)
    await listening(server, hidden)
    if (deps.gid !== null) await chown(hidden, KEEP_OWNER, deps.gid)
    await chmod(hidden, deps.gid === null ? 0o600 : 0o660)
    if (stale !== null && !(await removeStale(path, deps))) return await closed(server)
    if (!(await publish(hidden, path))) return await closed(server)
    const own = await lstat(path, { bigint: true })
    server.on('error', deps.onError)
    return socketFile(path, server, own)
  } catch (error) {
    await closed(server)
    if (error instanceof HoltError) throw error
    throw refused(path, `the socket ${path} cannot be made (${describeError(error).message})`)
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  }
}

/** A path in a fresh folder of ours, on the disk of the target; by way of a link where that would be too long. */
async function hiddenPath(path: string, folders: string[]): Promise<string> {
  const folder = await mkdtemp(join(dirname(path), '.holt-'))
  folders.push(folder)
  const hidden = join(folder, 's')
  if (fits(hidden)) return hidden
  const short = await mkdtemp(join(tmpdir(), 'holt-'))
  folders.push(short)
  await symlink(folder, join(short, 'd'))
  return join(short, 'd', 's')
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })

const closed = (server: Server): Promise<null> => new Promise((resolve) => server.close(() => resolve(null)))

/**
 * Removes a socket that nobody answers at. One host at a time may: between looking and removing, another could have
 * removed the stale one and put its own there. False: another is at it.
 */
async function removeStale(path: string, deps: SocketFileDeps): Promise<boolean> {
  const lock = `${path}.lock`
  if (!(await takeLock(lock, deps.clock))) return false
  try {
    if ((await findStale(path, deps)) !== null) await unlink(path)
    return true
  } finally {
    await rmdir(lock)
  }
}

/** A folder is made by one alone. One that is left of a process that was killed goes after a while. */
async function takeLock(lock: string, clock: Clock): Promise<boolean> {
  try {
    await mkdir(lock, 0o700)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const made = await lstat(lock).catch(() => null)
    if (made !== null && clock.wall() - made.mtimeMs > LOCK_MS) await rmdir(lock).catch(() => {})
    return false
  }
}

/** Gives the file its public name, where there is none; a rename would take it from another. */
async function publish(hidden: string, path: string): Promise<boolean> {
  try {
    await link(hidden, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    if (!NO_LINKS.has(codeOf(error))) throw error
    // A file system without links: the name was free a moment ago.
    await rename(hidden, path)
  }
  return true
}

/** An inode's number is given away again at once when its file is gone; a socket's mtime is that of its making for good. */
const same = (a: BigIntStats, b: BigIntStats): boolean => a.ino === b.ino && a.dev === b.dev && a.mtimeNs === b.mtimeNs

function socketFile(path: string, server: Server, own: BigIntStats): SocketFile {
  const look = (): Seen => {
    try {
      return same(lstatSync(path, { bigint: true }), own) ? 'ours' : 'anothers'
    } catch (error) {
      return ['ENOENT', 'ENOTDIR'].includes(codeOf(error)) ? 'gone' : 'unseen'
    }
  }
  return {
    path,
    server,
    look,
    remove() {
      try {
        if (look() === 'ours') rmSync(path, { force: true })
        return null
      } catch (error) {
        return describeError(error).message
      }
    },
  }
}
