/**
 * What a package may hold: the paths of its entries, how much there may be of it, what is left out of it, and under which
 * name it is kept. The same for a folder and for a tarball. Pure.
 */
import { HoltError } from '../model/error.ts'

/** Bounds of one package. */
export interface PackageLimits {
  /** Of all files together. */
  readonly bytes: number
  /** Files, folders and links. */
  readonly entries: number
  /** Folders in one another, the file itself counted. */
  readonly depth: number
}

export const PACKAGE_LIMITS: PackageLimits = { bytes: 268_435_456, entries: 20_000, depth: 32 }

const MAX_NAME_BYTES = 255
const MAX_PATH_BYTES = 1024

/** Part of a package, by its path with `/`. */
export type PackageEntry =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly executable: boolean
      /** Asked for once. */
      readonly content: () => AsyncIterable<Uint8Array>
    }
  /** A symbolic link, with its text as it is. */
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** The same content as a file that came before. */
  | { readonly kind: 'copy'; readonly path: string; readonly of: string }
  /** What no package may hold. */
  | { readonly kind: 'other'; readonly path: string; readonly what: string }

/** Told each entry in turn; the next comes once this has resolved. */
export type TakeEntry = (entry: PackageEntry) => Promise<void>

/** What is wrong with a package: where, what was expected and what was found. */
export const badPackage = (source: string, text: string, cause?: unknown): HoltError =>
  new HoltError('InvalidInput', `${source}: ${text}`, { source }, cause)

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const BAD_CHARACTER = /[\u0000-\u001f\u007f\\]/
const DRIVE = /^[A-Za-z]:/

/** As it may be shown: cut, with what cannot be seen spelt out. */
const shown = (path: string): string => JSON.stringify(path.length > 120 ? `${path.slice(0, 120)}…` : path)

/**
 * The names in a path, from the top down; none for the package itself.
 * @throws HoltError `InvalidInput` for one that leaves the package, or cannot be a file everywhere
 */
export function namesIn(path: string, source: string): readonly string[] {
  const refuse = (found: string): HoltError => badPackage(source, `expected paths inside the package, found ${found}`)
  if (path.startsWith('/') || DRIVE.test(path)) throw refuse(`the absolute path ${shown(path)}`)
  if (BAD_CHARACTER.test(path)) throw refuse(`${shown(path)}, with a backslash or a control character in it`)
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw refuse(`${shown(path)}, which may leave it`)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw refuse(`a path of more than ${MAX_PATH_BYTES} bytes`)
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    throw refuse(`a name of more than ${MAX_NAME_BYTES} bytes`)
  return names
}

/** Secrets, and what an editor, a file system or a version control keeps beside the files of an agent. */
const LEFT_OUT = /^(?:\.env(?:\..*)?|\.git|\.DS_Store|\._.*)$/

/** The topmost part of a path that is left out of a package; null where nothing is. */
export function leftOutOf(names: readonly string[]): string | null {
  const at = names.findIndex((name) => LEFT_OUT.test(name))
  return at === -1 ? null : names.slice(0, at + 1).join('/')
}

/** Counts what a package brings. */
export class PackageBudget {
  readonly #limits: PackageLimits
  readonly #source: string
  #entries = 0
  #bytes = 0

  constructor(source: string, limits: PackageLimits) {
    this.#source = source
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws HoltError `InvalidInput` past the bound, as `addBytes` */
  addEntry(names: readonly string[]): void {
    const { entries, depth } = this.#limits
    if (names.length > depth) throw this.#tooMuch(`paths at most ${depth} deep, found ${shown(names.join('/'))}`)
    if (++this.#entries > entries) throw this.#tooMuch(`at most ${entries} files and folders, found more`)
  }

  addBytes(count: number): void {
    this.#bytes += count
    const { bytes } = this.#limits
    if (this.#bytes > bytes) throw this.#tooMuch(`at most ${bytes} bytes in all, found more`)
  }

  #tooMuch(text: string): HoltError {
    return badPackage(this.#source, `expected ${text}. Leave out what the agent does not need to run`)
  }
}

const DIGEST_SHOWN = 12
const VERSION_SHOWN = 64

/** The folder of one version, below that of its agent: safe whatever the version says, and never the same for two. */
export function versionFolder({ version, digest }: { readonly version: string; readonly digest: string }): string {
  const name = version.replaceAll(/[^A-Za-z0-9._+-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return `${name.slice(0, VERSION_SHOWN) || '0'}-${digest.slice(0, DIGEST_SHOWN)}`
}
