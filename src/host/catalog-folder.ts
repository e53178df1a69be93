/** The entries of a folder, and the digest of what is in one. Follows no link. */
import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, HoltError } from '../model/error.ts'
import { badPackage, leftOutOf, type PackageEntry, type TakeEntry } from './catalog-rules.ts'

/**
 * Folders before what is in them, by name; nothing below what is left out of a package.
 * @throws HoltError `InvalidInput` where something cannot be read; what `take` throws
 */
export async function readFolder(dir: string, take: TakeEntry): Promise<void> {
  const readable = async <T>(path: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw unreadable(join(dir, path), error)
    }
  }
  const visit = async (folder: string): Promise<void> => {
    const entries = await readable(folder, readdir(join(dir, folder), { withFileTypes: true }))
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      await take(await readable(path, entryOf(dir, path, entry)))
      if (entry.isDirectory() && leftOutOf([entry.name]) === null) await visit(path)
    }
  }
  await visit('')
}

async function entryOf(dir: string, path: string, entry: Dirent): Promise<PackageEntry> {
  const at = join(dir, path)
  if (entry.isDirectory()) return { kind: 'folder', path }
  if (entry.isSymbolicLink()) return { kind: 'link', path, target: await readlink(at) }
  if (!entry.isFile()) return { kind: 'other', path, what: 'a pipe, a socket or a device' }
  const { mode } = await lstat(at)
  return { kind: 'file', path, executable: (mode & 0o100) !== 0, content: () => contentOf(at) }
}

async function* contentOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file)
  } catch (error) {
    throw unreadable(file, error)
  }
}

const unreadable = (path: string, error: unknown): unknown =>
  error instanceof HoltError ? error : badPackage(path, `it cannot be read: ${describeError(error).message}`, error)

/** Of the paths, contents, links and executable bits below a folder, as hex; without what is left out of a package. */
export async function digestOf(dir: string): Promise<string> {
  const hash = createHash('sha256')
  await readFolder(dir, async (entry) => {
    if (leftOutOf(entry.path.split('/')) !== null) return
    const more = entry.kind === 'file' ? entry.executable : entry.kind === 'link' ? entry.target : null
    hash.update(`${JSON.stringify([entry.kind, entry.path, more])}\n`)
    if (entry.kind === 'file') hash.update(await contentHash(entry.content()))
  })
  return hash.digest('hex')
}

async function contentHash(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of content) hash.update(chunk)
  return hash.digest()
}
