/** What is made of the files that a killed host leaves, whole or not. */
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HoltError } from '../../src/model/error.ts'
import { spawnChild } from './children.ts'
import type { Answer } from './random-writes.ts'
import { databaseOf, filledState, readAll } from './states.ts'
import { errorOf, tempState, tempStore } from './temp-store.ts'

describe('C130: what a killed host leaves', () => {
  let crashed: string
  let answers: readonly Answer[]

  beforeAll(async () => {
    crashed = join(mkdtempSync(join(tmpdir(), 'holt-store-')), 'state')
    const child = spawnChild('write', crashed, '5')
    await child.line(2000)
    child.process.kill('SIGKILL')
    await child.ended
    answers = child.said as Answer[]
    expect(statSync(`${databaseOf(crashed)}-wal`).size).toBeGreaterThan(0)
  })
  afterAll(() => rmSync(dirname(crashed), { recursive: true, force: true }))

  /** A copy of it, with a change. */
  function leftBy(change: (path: string) => void): string {
    const dir = tempState()
    cpSync(crashed, dir, { recursive: true })
    chmodSync(dir, 0o700)
    change(databaseOf(dir))
    return dir
  }
  const highest = (agent: string): number =>
    Math.max(0, ...answers.map((one) => (one.kind === 'epoch' && one.agent === agent ? one.epoch : 0)))

  it('is recovered from, side files and all', async () => {
    const faults: HoltError[] = []
    const store = await tempStore({ dir: leftBy(() => {}) }, faults)
    expect(store.afterCrash).toBe(true)
    for (const agent of ['a', 'b', 'c']) expect(store.epochs.current(agent)).toBeGreaterThanOrEqual(highest(agent))
    expect(faults).toEqual([])
  })

  it.each<readonly [string, (path: string) => void]>([
    ['without the shared memory', (path) => unlinkSync(`${path}-shm`)],
    ['with shared memory that is empty', (path) => truncateSync(`${path}-shm`, 0)],
    ['with shared memory that is nonsense', (path) => writeFileSync(`${path}-shm`, Buffer.alloc(32_768, 7))],
    ['with nonsense after the log', (path) => writeFileSync(`${path}-wal`, 'nonsense'.repeat(1000), { flag: 'a' })],
  ])('is recovered from %s', async (_what, change) => {
    const store = await tempStore({ dir: leftBy(change) })
    for (const agent of ['a', 'b', 'c']) expect(store.epochs.current(agent)).toBeGreaterThanOrEqual(highest(agent))
  })

  it.each<readonly [string, (path: string) => void]>([
    ['deleted', (path) => unlinkSync(`${path}-wal`)],
    ['deleted with the shared memory', (path) => ['-wal', '-shm'].map((end) => unlinkSync(path + end))],
    ['emptied', (path) => truncateSync(`${path}-wal`, 0)],
  ])(
    'without its log, which was %s, is gone on with; it is told, and epochs still only grow',
    async (_what, change) => {
      const faults: HoltError[] = []
      const dir = leftBy(change)
      const store = await tempStore({ dir }, faults)
      expect(faults.map(({ code }) => code)).toEqual(['StateLogLost'])
      expect(faults[0]?.message).toContain('may be lost')
      expect(store.health).toEqual({ state: 'ok' })
      for (const agent of ['a', 'b', 'c']) expect(await store.epochs.next(agent)).toBeGreaterThan(highest(agent))
      await store.close()
      await tempStore({ dir }, faults)
      expect(faults).toHaveLength(1)
    },
  )

  it('with a log that was cut is recovered from as far as the log goes', async () => {
    const half = (path: string): void => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size / 2)
    const store = await tempStore({ dir: leftBy(half) })
    expect(store.counters.read('pair')['left'] ?? 0).toBe(store.sessions.get('pair', 's')?.length ?? 0)
  })

  it('with a log that belongs to another file is refused with the next step, or read without harm', async () => {
    const dir = leftBy(() => {})
    const other = await filledState()
    renameSync(databaseOf(other), databaseOf(dir))
    const error = await readAll(dir).catch((one: HoltError) => one)
    if (error === 'read') return
    expect(error.code).toBe('StateCorrupt')
    expect(error.message).toContain(`If it was put back from a copy, ${databaseOf(dir)}-wal`)
  })

  it('that was damaged is refused, and neither it nor its log is touched', async () => {
    const dir = leftBy((path) => truncateSync(path, 100))
    const read = (): Buffer[] => ['', '-wal'].map((end) => readFileSync(databaseOf(dir) + end))
    const before = read()
    const error = await errorOf(() => readAll(dir))
    expect(error.code).toBe('StateCorrupt')
    expect(error.message).toContain('If it was put back from a copy')
    expect(read().every((bytes, at) => bytes.equals(before[at]!))).toBe(true)
  })

  it("is still known to be a killed host's after a start that was refused", async () => {
    const dir = leftBy((path) => renameSync(path, `${path}.away`))
    writeFileSync(databaseOf(dir), 'no database')
    expect((await errorOf(() => tempStore({ dir }))).code).toBe('StateCorrupt')
    renameSync(`${databaseOf(dir)}.away`, databaseOf(dir))
    expect((await tempStore({ dir })).afterCrash).toBe(true)
  })

  it('with a log that is damaged in its middle is read without harm, as far as the log goes', async () => {
    const dir = leftBy((path) => {
      const log = readFileSync(`${path}-wal`)
      writeFileSync(`${path}-wal`, log.fill(1, 5000, 9000))
    })
    expect(await readAll(dir)).toBe('read')
  })
})
