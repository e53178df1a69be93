/**
 * The entries of a tarball (.tgz, .tar.gz, .tar), read once from front to back. Whoever made it is not trusted: nothing is
 * written here, and whoever is told an entry looks at its path first. The only file that knows the library for tar.
 */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'
import { describeError } from '../model/error.ts'
import { badPackage, type PackageEntry, type PackageLimits, type TakeEntry } from './catalog-rules.ts'

/** What an entry takes beside its content: its header, headers before it that carry a long path, and the padding. */
const OVERHEAD_BYTES = 4096
const GZIP = [0x1f, 0x8b] as const
/** The parser looks at so many bytes to see what it has; it is handed at least these at once. */
const LEAST_BYTES = 512

/** @throws HoltError `InvalidInput` for what is no tarball, is damaged, or holds more than it may; what `take` throws */
export async function readTarball(file: string, limits: PackageLimits, take: TakeEntry): Promise<void> {
  const parser = new Parser({ strict: true, brotli: false, zstd: false })
  let over = false
  const end = (): void => {
    over = true
  }
  parser.on('eof', end)
  const taken = takeAll(parser, file, take)
  taken.catch(end)
  const room = (): Promise<void> => new Promise((resolve) => parser.once('drain', resolve))
  try {
    for await (const chunk of bytesOf(file, limits)) {
      // What stands behind the end is nobody's; what follows a fault is not looked at.
      if (over) break
      if (!parser.write(chunk)) await Promise.race([room(), taken])
    }
    parser.end()
  } catch (error) {
    parser.abort(error as Error)
    throw error
  }
  await taken
}

/** Resolves once the last entry has been taken. */
function takeAll(parser: Parser, file: string, take: TakeEntry): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = Promise.resolve()
    parser.on('error', (error: Error) => reject(badPackage(file, `expected a tarball, found: ${error.message}`, error)))
    parser.on('ignoredEntry', ({ path, type }: ReadEntry) =>
      reject(badPackage(file, `expected files, folders and links, found ${JSON.stringify(path)} of type ${type}`)),
    )
    parser.on('entry', (entry: ReadEntry) => {
      last = last.then(() => take(entryOf(entry)))
      // What was not read has to go by, or the next one never comes.
      last.then(() => entry.resume(), reject)
    })
    parser.on('end', () => void last.then(resolve, reject))
  })
}

function entryOf(entry: ReadEntry): PackageEntry {
  const { path, linkpath = '', mode = 0 } = entry
  switch (entry.type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      return { kind: 'file', path, executable: (mode & 0o100) !== 0, content: () => entry }
    case 'Directory':
      return { kind: 'folder', path }
    case 'SymbolicLink':
      return { kind: 'link', path, target: linkpath }
    case 'Link':
      return { kind: 'copy', path, of: linkpath }
    default:
      return { kind: 'other', path, what: entry.type }
  }
}

/** What is in the file, unpacked, up to what its entries may come to. */
async function* bytesOf(file: string, { bytes, entries }: PackageLimits): AsyncGenerator<Buffer> {
  const most = bytes + entries * OVERHEAD_BYTES
  let count = 0
  let head: Buffer | null = Buffer.alloc(0)
  for await (const chunk of unpacked(file)) {
    count += chunk.length
    if (count > most) throw badPackage(file, `expected a tarball of at most ${bytes} bytes unpacked, found more`)
    if (head === null) yield chunk
    else {
      head = Buffer.concat([head, chunk])
      if (head.length < LEAST_BYTES) continue
      yield onceOnly(head, file)
      head = null
    }
  }
  if (head !== null) yield onceOnly(head, file)
}

/** @throws HoltError `InvalidInput` for what is packed twice, since the parser would unpack it without looking at how much */
function onceOnly(head: Buffer, file: string): Buffer {
  if (isGzip(head)) throw badPackage(file, 'expected a tarball, found a file that is compressed twice')
  return head
}

const isGzip = (bytes: Uint8Array): boolean => GZIP.every((byte, index) => bytes[index] === byte)

/** @throws HoltError `InvalidInput` where it cannot be read, or is damaged */
async function* unpacked(file: string): AsyncGenerator<Buffer> {
  try {
    const raw = createReadStream(file)
    yield* (await beginsWithGzip(file)) ? pipeline(raw, createGunzip(), () => {}) : raw
  } catch (error) {
    throw badPackage(file, `expected a tarball that can be read, found: ${describeError(error).message}`, error)
  }
}

async function beginsWithGzip(file: string): Promise<boolean> {
  for await (const chunk of createReadStream(file, { end: 1 })) return isGzip(chunk as Buffer)
  return false
}
