/**
 * Where the socket of a fleet is when nobody says: in a private folder of the user, named after the fleet's folder, so
 * that server and clients come to the same path by themselves. It takes the place of the run folder of a state
 * directory, which this version does not have yet.
 *
 *     $XDG_RUNTIME_DIR/holt/<name>-<hash>/holt.sock      where that folder is the user's own
 *     <temporary folder>/holt-<uid>/<name>-<hash>/holt.sock
 */
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { describeError } from '../../model/error.ts'
import { fits, refused } from './socket-path.ts'

type Env = Readonly<Record<string, string | undefined>>

const FILE = 'holt.sock'
const NAME_LENGTH = 24
const HASH_LENGTH = 12

export const ownUid = (): number => process.getuid?.() ?? -1

/** The same for every way of writing the fleet's folder. Looks and never writes. */
export function socketFor(fleetDir: string, env: Env = process.env): string {
  const real = realpathSync(fleetDir)
  const hash = createHash('sha256').update(real).digest('hex').slice(0, HASH_LENGTH)
  const name = basename(real)
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, NAME_LENGTH)
  const end = join(`${name}-${hash}`, FILE)
  const places = [runtimeFolder(env), join(tmpdir(), `holt-${ownUid()}`)].filter((place) => place !== null)
  const paths = places.map((place) => join(place, end))
  return paths.find(fits) ?? join('/tmp', `holt-${ownUid()}`, end)
}

/** Null where it is not set, or is another's: under `su` and `sudo` it may be. */
function runtimeFolder(env: Env): string | null {
  const folder = env['XDG_RUNTIME_DIR']
  if (folder === undefined || !isAbsolute(folder)) return null
  try {
    const stats = statSync(folder)
    return stats.isDirectory() && stats.uid === ownUid() ? join(folder, 'holt') : null
  } catch {
    return null
  }
}

/**
 * Makes the two folders above a socket that `socketFor` named, for their owner alone.
 * @throws HoltError `InvalidOption` where one of them is another's, or is no folder
 */
export function makeFolders(socket: string): void {
  const own = dirname(socket)
  for (const folder of [dirname(own), own]) makePrivate(folder)
}

function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (describeError(error).code !== 'EEXIST') {
      throw refused(folder, `the folder ${folder} cannot be made (${describeError(error).message})`)
    }
  }
  const stats = lstatSync(folder)
  if (!stats.isDirectory()) throw refused(folder, `expected a folder at ${folder}, found something else`)
  if (stats.uid !== ownUid()) throw refused(folder, othersFolder(folder, stats.uid))
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

const othersFolder = (folder: string, uid: number): string =>
  `${folder} belongs to user ${uid}, and this is user ${ownUid()}. Remove it as its owner, or set HOLT_UDS_PATH`
