/** Opening: every way in which a state directory can be bad has one clear answer, and nothing is written to what was refused. */
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HoltError } from '../../src/model/error.ts'
import { Connection } from '../../src/store/connection.ts'
import { runChild } from './children.ts'
import { randomBySeed } from './random-writes.ts'
import { databaseOf, filledState, readAll } from './states.ts'
import { errorOf, tempFolder, tempState, tempStore } from './temp-store.ts'

const NOBODY = 65_534

const sameBut = (before: Buffer, after: Buffer, skip = 0): boolean => before.subarray(skip).equals(after.subarray(skip))
const HEADER_BYTES = 100

/** Refused with this code; the message names the path, and the file is as it was (but for its first `header` bytes). */
async function refused(dir: string, code: string, texts: readonly string[], header = 0): Promise<void> {
  const path = databaseOf(dir)
  const isFile = statSync(path).isFile()
  const before = isFile ? readFileSync(path) : null
  const error = await errorOf(() => tempStore({ dir }))
  expect(error).toBeInstanceOf(HoltError)
  expect({ code: error.code, message: error.message }).toEqual({ code, message: expect.stringContaining(path) })
  for (const text of texts) expect(error.message).toContain(text)
  if (before !== null) expect(sameBut(before, readFileSync(path), header)).toBe(true)
  else expect(statSync(path).isFile()).toBe(false)
  // The lock is free again: the next attempt gets as far.
  expect((await errorOf(() => tempStore({ dir }))).code).toBe(code)
}

describe('C131: a database that cannot be used', () => {
  it.each([
    ['a short text', 'hello'],
    ['a long text', 'this is no database\n'.repeat(2000)],
  ])('is %s', async (_what, text) => {
    const dir = await filledState()
    writeFileSync(databaseOf(dir), text)
    await refused(dir, 'StateCorrupt', ['is damaged, or no database', 'It is left as it is', 'Move it away'])
  })

  it.each([
    ['by half', (bytes: number) => Math.floor(bytes / 2 / 4096) * 4096],
    ['in the middle of a page', (bytes: number) => bytes - 1000],
    ['to less than a header', () => 50],
  ])('was cut %s', async (_what, to) => {
    const dir = await filledState()
    truncateSync(databaseOf(dir), to(statSync(databaseOf(dir)).size))
    await refused(dir, 'StateCorrupt', ['is damaged, or no database', '.recover'])
  })

  it('has random bytes in its middle', async () => {
    const dir = await filledState()
    const bytes = readFileSync(databaseOf(dir))
    const random = randomBySeed(1)
    for (let at = 4096 * 20; at < 4096 * 24; at++) bytes[at] = Math.floor(random() * 256)
    writeFileSync(databaseOf(dir), bytes)
    await refused(dir, 'StateCorrupt', ['put a backup in its place'])
  })

  it('is a folder', async () => {
    const dir = await filledState()
    rmSync(databaseOf(dir))
    mkdirSync(databaseOf(dir))
    await refused(dir, 'StateUnreadable', ['found a folder. Move it away'])
  })

  it('is the database of another program', async () => {
    const dir = await filledState()
    rmSync(databaseOf(dir))
    const other = new Connection(databaseOf(dir))
    other.exec('CREATE TABLE bookmarks (url)')
    other.close()
    chmodSync(databaseOf(dir), 0o600)
    await refused(dir, 'StateCorrupt', ['is a SQLite database of another program', '--state'])
  })

  it('has lost a table', async () => {
    const dir = await filledState()
    const other = new Connection(databaseOf(dir))
    other.exec('DROP TABLE tokens')
    other.close()
    await refused(dir, 'StateCorrupt', ['its tables are not those of its schema: no such table: tokens'], HEADER_BYTES)
    expect(readdirSync(dir).sort()).toEqual(['holt.db', 'host.lock'])
  })

  it('is a link to nowhere', async () => {
    const dir = await filledState()
    rmSync(databaseOf(dir))
    symlinkSync(join(dir, 'nowhere'), databaseOf(dir))
    const error = await errorOf(() => tempStore({ dir }))
    expect(error.code).toBe('StateUnreadable')
    expect(error.message).toContain('is a link to nowhere')
    expect(lstatSync(databaseOf(dir)).isSymbolicLink()).toBe(true)
  })

  it('may be empty: SQLite takes it for a new one, and so does Holt', async () => {
    const dir = tempState()
    mkdirSync(dir, { mode: 0o700 })
    writeFileSync(databaseOf(dir), '', { mode: 0o644 })
    const store = await tempStore({ dir })
    expect(await store.epochs.next('a')).toBe(1)
    expect(statSync(databaseOf(dir)).mode & 0o777).toBe(0o600)
  })

  it('with any byte damaged is refused with a reason or read without harm', async () => {
    const dir = await filledState()
    const whole = readFileSync(databaseOf(dir))
    const seed = Number(process.env['HOLT_STORE_SEED'] ?? Date.now() % 1_000_000)
    console.log(`store: damage seed ${seed} (HOLT_STORE_SEED)`)
    const random = randomBySeed(seed)
    const codes = new Map<string, number>()
    for (let round = 0; round < 60; round++) {
      const bytes = Buffer.from(whole)
      const count = 1 + Math.floor(random() * 200)
      const from = Math.floor(random() * (bytes.length - count))
      for (let at = from; at < from + count; at++) bytes[at] = Math.floor(random() * 256)
      writeFileSync(databaseOf(dir), bytes)
      const code = await readAll(dir).catch((error: HoltError) => error.code)
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    expect([...codes.keys()].filter((code) => code !== 'read' && code !== 'StateCorrupt')).toEqual([])
  })
})

/**
 * Permissions do not apply to root: there the folder is given to another user, and a process of that user tries. So these
 * tests run as root and as anybody.
 */
interface Refusal {
  readonly opened?: true
  readonly code: string
  readonly message: string
}

describe('C131: a state directory that permissions keep one from', () => {
  async function asAnother(change: (dir: string) => void): Promise<Refusal> {
    const dir = await filledState()
    chmodSync(dirname(dir), 0o755)
    const isRoot = process.getuid?.() === 0
    if (isRoot)
      for (const path of [dir, ...readdirSync(dir).map((name) => join(dir, name))]) chownSync(path, NOBODY, NOBODY)
    change(dir)
    const before = readFileSyncOrNull(databaseOf(dir))
    const said = (await runChild('open', dir, String(isRoot ? NOBODY : 0))) as Refusal
    if (!said.opened)
      expect(readFileSyncOrNull(databaseOf(dir))?.equals(before!)).toBe(before === null ? undefined : true)
    chmodSync(dir, 0o700)
    return said
  }
  const readFileSyncOrNull = (path: string): Buffer | null => {
    try {
      return readFileSync(path)
    } catch {
      return null
    }
  }

  it('is opened where they allow it', async () => {
    expect(await asAnother(() => {})).toEqual({ opened: true, afterCrash: false })
  })

  it('has a database that may not be read', async () => {
    const { code, message } = await asAnother((dir) => chmodSync(databaseOf(dir), 0o000))
    expect(code).toBe('StateUnreadable')
    expect(message).toContain('holt.db cannot be read: permission is denied. chmod 600 it as its owner')
  })

  it('has a database that may not be written', async () => {
    const { code, message } = await asAnother((dir) => chmodSync(databaseOf(dir), 0o400))
    expect(code).toBe('StateUnwritable')
    expect(message).toContain('holt.db cannot be written: permission is denied')
  })

  it('may not be written itself', async () => {
    const { code, message } = await asAnother((dir) => chmodSync(dir, 0o500))
    expect(code).toBe('StateUnwritable')
    expect(message).toContain('state cannot be written to: permission is denied')
  })

  it('may not be read itself', async () => {
    const { code, message } = await asAnother((dir) => chmodSync(dir, 0o300))
    expect(code).toBe('StateUnwritable')
    expect(message).toContain('state cannot be read: permission is denied')
  })

  it('C089: belongs to somebody else, who is named', async () => {
    // Without root nobody can be given a folder: that of root, which is everywhere, will do.
    const isRoot = process.getuid?.() === 0
    const dir = isRoot ? await filledState() : '/'
    if (isRoot) chownSync(dir, NOBODY, NOBODY)
    const error = await errorOf(() => tempStore({ dir }))
    expect(error.code).toBe('StateUnreadable')
    const owner = isRoot ? NOBODY : 0
    expect(error.message).toContain(`${dir} belongs to user ${owner}, and this is user ${process.getuid?.()}`)
    if (isRoot) chownSync(dir, 0, 0)
  })
})

describe('the state directory', () => {
  it('is to be absolute', async () => {
    expect(await errorOf(() => tempStore({ dir: 'state' }))).toMatchObject({ code: 'InvalidOption' })
  })

  it('is made with all above it, for its owner alone', async () => {
    const dir = join(tempFolder(), 'deep', 'er', 'state')
    await tempStore({ dir })
    for (const path of [dir, dirname(dir), dirname(dirname(dir))]) expect(statSync(path).mode & 0o777).toBe(0o700)
  })

  it('is closed to others where it was open', async () => {
    const dir = await filledState()
    chmodSync(dir, 0o755)
    chmodSync(databaseOf(dir), 0o644)
    await tempStore({ dir })
    expect([dir, databaseOf(dir)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
  })

  it('that is a file, or below one, is refused', async () => {
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    expect((await errorOf(() => tempStore({ dir: file }))).message).toContain(
      'something that is no folder is in its place',
    )
    expect((await errorOf(() => tempStore({ dir: join(file, 'x') }))).message).toContain(
      'something above it is no folder',
    )
  })

  it('is one whole file after a close, which can be copied and opened elsewhere', async () => {
    const dir = await filledState()
    expect(readdirSync(dir).sort()).toEqual(['holt.db', 'host.lock'])
    const copy = tempState()
    mkdirSync(copy)
    cpSync(databaseOf(dir), databaseOf(copy))
    expect((await tempStore({ dir: copy })).mailboxes.depth('a')).toBe(200)
  })

  it('keeps its side files where another program reads at the close, and is whole all the same', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.epochs.next('a')
    const reader = new Connection(databaseOf(dir))
    reader.exec('BEGIN; SELECT * FROM agents')
    await store.close()
    expect(readdirSync(dir)).toContain('holt.db-wal')
    const again = await tempStore({ dir })
    expect([again.afterCrash, again.epochs.current('a')]).toEqual([false, 1])
    reader.exec('COMMIT')
    reader.close()
  })

  it('is not written to by a start that changes nothing', async () => {
    const dir = await filledState()
    const before = readFileSync(databaseOf(dir))
    utimesSync(databaseOf(dir), 1, 1)
    await (await tempStore({ dir })).close()
    const after = readFileSync(databaseOf(dir))
    // The header counts changes of the journal mode; all else is as it was.
    expect(sameBut(before, after, HEADER_BYTES)).toBe(true)
  })
})
