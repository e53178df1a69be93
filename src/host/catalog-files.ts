/**
 * The files of the catalog: `<root>/<agent>/<version>-<digest>`, for their owner alone. A package is written to a draft
 * beside, looked at there, and renamed into its place when all of it is on disk; what a crash left is swept away. Which
 * of the folders counts is not decided here.
 */
import { copyFile, lstat, mkdir, mkdtemp, open, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { describeError, type HoltError } from '../model/error.ts'
import { stateFault } from '../store/faults.ts'

/** Folders of the root that are none of an agent's begin so: no id does. */
export const DRAFT = '.new-'
const ASIDE = '.old-'
export const PRIVATE_FOLDER = 0o700

/** What is wrong with the place of the catalog, in the words of the state's other faults; anything else as it is. */
export function fileFault(root: string, error: unknown): unknown {
  const { code = '', message } = describeError(error)
  const say = (kind: Parameters<typeof stateFault>[0], text: string): HoltError =>
    stateFault(kind, root, `the catalog in ${root} cannot be written: ${text}`, {}, error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return say('StateFull', 'the disk is full; make room')
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return say('StateUnwritable', message)
  return error
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

export const isFile = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  )

export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Puts a secret of the operator's own where the next version of its agent finds it. */
export async function keepEnv(from: string, to: string): Promise<void> {
  const [env, copy] = [join(from, '.env'), join(to, '.env')]
  const stats = await lstat(env).catch(() => null)
  if (stats?.isSymbolicLink()) await symlink(await readlink(env), copy)
  else if (stats?.isFile()) {
    await copyFile(env, copy)
    await syncPath(copy)
  }
}

/** A package in its place, until it is said to stay. */
export interface Published {
  /** Takes it away again; what was there before is there again. */
  undo(): Promise<void>
  /** What was there before goes. */
  keep(): Promise<void>
}

/** Puts a settled draft into its place: all of it, on disk, or nothing. */
export async function publish(draft: string, root: string, place: string): Promise<Published> {
  await syncFolders(draft)
  await mkdir(dirname(place), { recursive: true, mode: PRIVATE_FOLDER })
  const before = await moveAside(root, place)
  const undo = async (): Promise<void> => {
    await rm(place, { recursive: true, force: true })
    await before.restore()
  }
  try {
    await rename(draft, place)
    for (const folder of [dirname(place), root, dirname(root)]) await syncPath(folder)
  } catch (error) {
    // What cannot be undone now is swept away later; why it failed is what counts.
    await undo().catch(() => {})
    throw error
  }
  return { undo, keep: before.remove }
}

interface Aside {
  restore(): Promise<void>
  remove(): Promise<void>
}

const NOTHING: Aside = { restore: async () => {}, remove: async () => {} }

/** What stands in the place: a copy that has been damaged, or one that nobody counts any more. */
async function moveAside(root: string, place: string): Promise<Aside> {
  if (!(await exists(place))) return NOTHING
  const dir = await mkdtemp(join(root, ASIDE))
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true })
  const aside = join(dir, basename(place))
  try {
    await rename(place, aside)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    remove,
    restore: async () => {
      await rename(aside, place)
      await remove()
    },
  }
}

/**
 * Removes what does not count: drafts, what was put aside, folders of agents and versions that are not named.
 * @param kept the one folder of each agent
 */
export async function sweep(root: string, kept: ReadonlyMap<string, string>): Promise<void> {
  await putBack(root, kept)
  for (const name of await namesOf(root)) {
    const version = kept.get(name)
    if (version === undefined) await rm(join(root, name), { recursive: true, force: true })
    else await sweepVersions(join(root, name), version)
  }
}

/** What had been put aside when the host was killed, and nothing had taken its place yet. */
async function putBack(root: string, kept: ReadonlyMap<string, string>): Promise<void> {
  const asides = (await namesOf(root)).filter((name) => name.startsWith(ASIDE))
  for (const [agent, version] of kept) {
    const place = join(root, agent, version)
    for (const aside of asides) {
      const there = join(root, aside, version)
      if (!(await exists(place)) && (await exists(there))) await rename(there, place)
    }
  }
}

/** Removes all versions of an agent but one. */
export async function sweepVersions(dir: string, kept: string): Promise<void> {
  for (const name of await namesOf(dir)) if (name !== kept) await rm(join(dir, name), { recursive: true, force: true })
}

const namesOf = (dir: string): Promise<string[]> =>
  readdir(dir).catch((error: unknown) => (describeError(error).code === 'ENOENT' ? [] : Promise.reject(error)))

/** How much there is below a folder; nothing where there is none. */
export async function sizeOf(dir: string): Promise<{ readonly files: number; readonly bytes: number }> {
  let files = 0
  let bytes = 0
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue
    files++
    bytes += (await lstat(join(entry.parentPath, entry.name))).size
  }
  return { files, bytes }
}

/** Folders from the bottom up: a name in one counts once that folder is on disk. */
async function syncFolders(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(dir, entry.name))
  await syncPath(dir)
}

export async function syncPath(path: string): Promise<void> {
  // Windows opens no folders, and keeps names without being asked.
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
