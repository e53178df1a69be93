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
  const { failed, fail } = failure()
  const entries = takeAll(parser, file, take, { failed, fail })
  try {
    await feed(parser, bytesOf(file, limits), failed)
    parser.end()
    await Promise.race([entries.taken(), failed])
    if (!entries.complete) throw badPackage(file, 'expected a whole tarball, found one without an end')
  } catch (error) {
    // Whoever is at reading an entry is told, and has ended before anyone cleans up.
    fail(error)
    await entries.taken().catch(() => {})
    throw error
  }
}

interface Failure {
  readonly failed: Promise<never>
  readonly fail: (error: unknown) => void
}

function failure(): Failure {
  let fail = (_error: unknown): void => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  return { failed, fail }
}

async function feed(parser: Parser, bytes: AsyncIterable<Buffer>, failed: Promise<never>): Promise<void> {
  let over = false
  const end = (): void => {
    over = true
  }
  failed.catch(end)
  parser.on('eof', end)
  for await (const chunk of bytes) {
    // What stands behind the end is nobody's; what follows a fault is not looked at.
    if (over) return
    if (parser.write(chunk)) continue
    await Promise.race([new Promise<void>((resolve) => parser.once('drain', resolve)), failed])
  }
}

interface Entries {
  /** Resolves once those that have come have been taken, and no more are to come. */
  taken(): Promise<void>
  /** It had an end. */
  readonly complete: boolean
}

function takeAll(parser: Parser, file: string, take: TakeEntry, { failed, fail }: Failure): Entries {
  let last = Promise.resolve()
  let complete = false
  const ended = new Promise<void>((resolve) => parser.on('end', resolve))
  parser.on('eof', () => {
    complete = true
  })
  parser.on('error', (error: Error) => fail(badPackage(file, `expected a tarball, found: ${error.message}`, error)))
  parser.on('ignoredEntry', ({ path, type }: ReadEntry) =>
    fail(badPackage(file, `expected files, folders and links, found ${JSON.stringify(path)} of type ${type}`)),
  )
  parser.on('entry', (entry: ReadEntry) => {
    last = last.then(() => take(entryOf(entry, failed)))
    // What was not read has to go by, or the next one never comes.
    last.then(() => entry.resume(), fail)
  })
  return {
    taken: async () => {
      await Promise.race([ended, failed.catch(() => {})])
      await last
    },
    get complete() {
      return complete
    },
  }
}

function entryOf(entry: ReadEntry, failed: Promise<never>): PackageEntry {
  const { path, linkpath = '', mode = 0 } = entry
  switch (entry.type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      return { kind: 'file', path, executable: (mode & 0o100) !== 0, content: () => contentOf(entry, failed) }
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

/** Of a tarball that turns out to be damaged further on, the rest of an entry never comes. */
async function* contentOf(entry: ReadEntry, failed: Promise<never>): AsyncGenerator<Uint8Array> {
  const chunks = entry[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await Promise.race([chunks.next(), failed])
    if (done === true) return
    yield value
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
