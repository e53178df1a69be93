/**
 * A package on its way into the catalog: written to a folder of its own, looked at there. Nothing in it counts, and no link
 * in it is followed, before all of it has been taken and found to be within its bounds.
 */
import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, mkdtemp, open, readdir, realpath, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeError } from '../model/error.ts'
import { DRAFT, isFile, isWithin, PRIVATE_FOLDER, syncPath } from './catalog-files.ts'
import { readFolder } from './catalog-folder.ts'
import {
  badPackage,
  leftOutOf,
  namesIn,
  PackageBudget,
  type PackageEntry,
  type PackageLimits,
  type TakeEntry,
} from './catalog-rules.ts'

const AGENT_FILE = 'agent.yml'
const PRIVATE_FILE = 0o600
const EXECUTABLE = 0o700

/** A package that is being written. */
export class Draft {
  /** Of its own, below the root it was opened in. */
  readonly dir: string
  /** What was not taken, by its path. */
  readonly leftOut = new Set<string>()
  readonly #source: string
  readonly #budget: PackageBudget
  readonly #files = new Set<string>()
  readonly #links: { readonly path: string; readonly target: string }[] = []

  private constructor(dir: string, source: string, limits: PackageLimits) {
    this.dir = dir
    this.#source = source
    this.#budget = new PackageBudget(source, limits)
  }

  static async open(root: string, source: string, limits: PackageLimits): Promise<Draft> {
    await mkdir(root, { recursive: true, mode: PRIVATE_FOLDER })
    return new Draft(await mkdtemp(join(root, DRAFT)), source, limits)
  }

  get files(): number {
    return this.#files.size
  }

  get bytes(): number {
    return this.#budget.bytes
  }

  /** @throws HoltError `InvalidInput` for what a package may not hold */
  readonly take: TakeEntry = async (entry) => {
    const names = namesIn(entry.path, this.#source)
    if (names.length === 0) return
    const leftOut = leftOutOf(names)
    if (leftOut !== null) {
      this.leftOut.add(leftOut)
      return
    }
    this.#budget.addEntry(names)
    const path = names.join('/')
    try {
      await this.#write(entry, path)
    } catch (error) {
      const { code = '' } = describeError(error)
      if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error
      throw badPackage(this.#source, `expected each path once, found ${JSON.stringify(path)} twice`, error)
    }
  }

  /**
   * Once all has been taken: where the agent is in it, by its real path. Up to now no link has been followed, and none leads out of it.
   * @throws HoltError `InvalidInput`
   */
  async settle(): Promise<string> {
    for (const { path, target } of this.#links) await this.#link(path, target)
    const root = await this.#packageRoot()
    const real = await realpath(root)
    for (const { path } of this.#links) {
      const to = await realpath(join(this.dir, path)).catch(() => null)
      if (to !== null && isWithin(real, to)) continue
      const found = to === null ? 'leads to nothing in it' : 'leaves it'
      throw badPackage(this.#source, `expected links inside the package, found ${JSON.stringify(path)}, which ${found}`)
    }
    return real
  }

  discard(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true })
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  async #write(entry: PackageEntry, path: string): Promise<void> {
    const to = join(this.dir, path)
    await mkdir(entry.kind === 'folder' ? to : dirname(to), { recursive: true, mode: PRIVATE_FOLDER })
    switch (entry.kind) {
      case 'folder':
        return
      case 'file':
        await this.#writeFile(to, entry)
        this.#files.add(path)
        return
      case 'copy':
        return this.#copy(path, namesIn(entry.of, this.#source).join('/'))
      case 'link':
        // Made at the end: until then nothing can be written through one.
        this.#links.push({ path, target: entry.target })
        return
      case 'other':
        throw badPackage(
          this.#source,
          `expected files, folders and links, found ${JSON.stringify(path)}, which is ${entry.what}`,
        )
      default:
        entry satisfies never
    }
  }

  async #writeFile(to: string, { executable, content }: Extract<PackageEntry, { kind: 'file' }>): Promise<void> {
    const file = await open(to, 'wx', executable ? EXECUTABLE : PRIVATE_FILE)
    try {
      for await (const chunk of content()) {
        this.#budget.addBytes(chunk.length)
        await file.writeFile(chunk)
      }
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async #copy(path: string, of: string): Promise<void> {
    if (!this.#files.has(of))
      throw badPackage(
        this.#source,
        `expected ${JSON.stringify(path)} to be a link to a file before it, found ${JSON.stringify(of)}`,
      )
    const from = join(this.dir, of)
    this.#budget.addBytes((await lstat(from)).size)
    await copyFile(from, join(this.dir, path), constants.COPYFILE_EXCL)
    await syncPath(join(this.dir, path))
    this.#files.add(path)
  }

  async #link(path: string, target: string): Promise<void> {
    try {
      await symlink(target, join(this.dir, path))
    } catch (error) {
      throw badPackage(
        this.#source,
        `the link ${JSON.stringify(path)} cannot be made: ${describeError(error).message}`,
        error,
      )
    }
  }

  /** The draft itself, or the one folder in it: npm's `package/`, or that of whoever packed it. */
  async #packageRoot(): Promise<string> {
    const names = await readdir(this.dir)
    const inner = names.length === 1 ? join(this.dir, names[0]!) : null
    for (const root of inner === null ? [this.dir] : [this.dir, inner])
      if (await isFile(join(root, AGENT_FILE))) return root
    const found = names.slice(0, 5).join(', ') || 'nothing'
    throw badPackage(this.#source, `expected an ${AGENT_FILE} at the top, or in the one folder there, found ${found}`)
  }
}

/**
 * Tells each entry of a folder or a tarball.
 * @param catalog the folder of the catalog itself, which no package may have in it
 * @throws HoltError `InvalidInput`; what `take` throws
 */
export async function readPackage(
  source: string,
  catalog: string,
  limits: PackageLimits,
  take: TakeEntry,
): Promise<void> {
  const real = await realpath(source).catch((error: unknown) => {
    throw badPackage(source, `expected a folder or a tarball, found nothing (${describeError(error).code})`, error)
  })
  const stats = await stat(real)
  // Whoever installs no tarball does not pay for the library.
  if (stats.isFile()) return (await import('./tarball.ts')).readTarball(real, limits, take)
  if (!stats.isDirectory()) throw badPackage(source, 'expected a folder or a tarball, found neither')
  const root = await realpath(catalog).catch(() => catalog)
  if (isWithin(real, root))
    throw badPackage(source, `expected the folder of one agent, found one with the catalog itself in it (${root})`)
  return readFolder(real, take)
}
