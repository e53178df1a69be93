/** A disk that is full or failing, and files that are taken away under a running store: told, never lied about, mended. */
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HoltError } from '../../src/model/error.ts'
import type { Store } from '../../src/store/store.ts'
import { runChild } from './children.ts'
import { limitFileSize, mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { databaseOf } from './states.ts'
import { body, errorOf, tempState, tempStore } from './temp-store.ts'

/** Writes until one is refused. @returns how many were answered, and the refusal */
async function writeUntilRefused(store: Store, from: number): Promise<{ answered: number; error: HoltError }> {
  for (let n = from; ; n++) {
    try {
      await store.write((tx) => tx.sessions.append('a', 's', body({ n, text: 'x'.repeat(2000) }), n))
    } catch (error) {
      return { answered: n, error: error as HoltError }
    }
  }
}

async function changeUntilRefused(store: Store): Promise<{ generation: number; refusal: HoltError }> {
  for (let generation = 0; ; generation++) {
    const change = { by: 'me', reason: 'x'.repeat(1000), at: 1, intent: 'running' } as const
    const refusal = await store.intents.commit('a', change).then(
      () => null,
      (error: HoltError) => error,
    )
    if (refusal !== null) return { generation, refusal }
  }
}

const lengthOf = (store: Store): number => store.sessions.get('a', 's')?.length ?? 0

async function fillAndFree(disk: SmallDisk, code: string): Promise<void> {
  const dir = join(disk.dir, 'state')
  const faults: HoltError[] = []
  const store = await tempStore({ dir }, faults)
  for (let n = 0; n < 10; n++) await store.write((tx) => tx.sessions.append('a', 's', body(n), n))
  disk.fill()
  const { answered, error } = await writeUntilRefused(store, 10)
  expect({ code: error.code, message: error.message }).toEqual({
    code,
    message: expect.stringContaining(databaseOf(dir)),
  })
  expect(store.health).toMatchObject({ state: 'degraded', reason: error })
  // Smaller ones may still have fitted in; whatever was answered is what is read.
  const { generation, refusal } = await changeUntilRefused(store)
  expect(refusal.code).toBe(code)
  expect([store.intents.read('a')?.generation ?? 0, lengthOf(store)]).toEqual([generation, answered])
  expect(store.health).toMatchObject({ state: 'degraded', reason: refusal })
  expect(new Set(faults.map((fault) => fault.code))).toEqual(new Set([code]))
  disk.free()
  expect(await store.check()).toEqual({ state: 'ok' })
  await store.write((tx) => tx.sessions.append('a', 's', body('after'), 1))
  await store.close()
  const again = await tempStore({ dir })
  expect(lengthOf(again)).toBe(answered + 1)
  expect(again.intents.read('a')?.generation ?? 0).toBe(generation)
}

describe('C134: a full disk', () => {
  it('loses nothing that was answered, is told, and is gone on from when there is room', async () => {
    const disk = mountSmallDisk()
    if (disk === null) return void console.log('store: no right to mount; the disk is not filled here')
    await fillAndFree(disk, 'StateFull')
  })

  it('keeps a host from starting, with the same answer, and a later start from nothing', async () => {
    const disk = mountSmallDisk()
    if (disk === null) return void console.log('store: no right to mount; the disk is not filled here')
    const dir = join(disk.dir, 'state')
    const store = await tempStore({ dir })
    expect(await store.epochs.next('a')).toBe(1)
    await store.close()
    disk.fill()
    const error = await errorOf(() => tempStore({ dir }))
    expect(error.code).toBe('StateFull')
    const anew = await errorOf(() => tempStore({ dir: join(disk.dir, 'new') }))
    expect(anew.code).toBe('StateFull')
    disk.free()
    expect(await (await tempStore({ dir })).epochs.next('a')).toBe(2)
    expect(await (await tempStore({ dir: join(disk.dir, 'new') })).epochs.next('a')).toBe(1)
  })
})

describe('C137: a disk on which writes fail', () => {
  it('is told as such, and gone on from when they succeed again', async () => {
    const disk = limitFileSize(300_000)
    if (disk === null) return void console.log('store: no limit on the size of files here; no write fails')
    await fillAndFree(disk, 'StateUnwritable')
  })
})

describe('C131: a read-only file system', () => {
  it('is refused as such, the state and a new one', async () => {
    const disk = mountSmallDisk()
    if (disk === null) return void console.log('store: no right to mount; no file system is read-only here')
    const dir = join(disk.dir, 'state')
    // By another process: this one would still have the files open.
    expect(await runChild('open', dir)).toMatchObject({ opened: true })
    disk.remountReadOnly()
    for (const path of [dir, join(disk.dir, 'new')]) {
      const error = await errorOf(() => tempStore({ dir: path }))
      expect(error.code).toBe('StateUnwritable')
      expect(error.message).toContain(
        'the file system is read-only; mount it for writing, or choose another with --state',
      )
    }
  })
})

describe('C137: a file that is taken away under a running store', () => {
  const files = ['holt.db', 'holt.db-wal', 'holt.db-shm', 'host.lock']

  async function running(): Promise<{ dir: string; store: Store; faults: HoltError[] }> {
    const dir = tempState()
    const faults: HoltError[] = []
    const store = await tempStore({ dir }, faults)
    await store.epochs.next('a')
    return { dir, store, faults }
  }

  it.each(files)('%s, deleted: nothing is claimed to be saved from then on', async (file) => {
    const { dir, store, faults } = await running()
    unlinkSync(join(dir, file))
    const results = await Promise.allSettled([store.epochs.next('a'), store.flush()])
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'StateReplaced', details: { what: 'deleted' } },
      })
    }
    expect(faults[0]?.message).toContain(
      `${join(dir, file)} was deleted while the host (pid ${process.pid}) has it open`,
    )
    expect(await store.check()).toMatchObject({ state: 'degraded', reason: { code: 'StateReplaced' } })
    expect(store.epochs.current('a')).toBe(1)
    expect(faults).toHaveLength(1)
  })

  it.each(files)('%s, replaced: the same', async (file) => {
    const { dir, store } = await running()
    const path = join(dir, file)
    renameSync(path, `${path}.old`)
    writeFileSync(path, '')
    const error = await errorOf(() => store.epochs.next('a'))
    expect(error).toMatchObject({ code: 'StateReplaced', details: { what: 'replaced' } })
    expect(statSync(path).size).toBe(0)
  })

  it('with its whole folder, moved and put back: it goes on, and nothing was lost', async () => {
    const { dir, store } = await running()
    renameSync(dir, `${dir}.moved`)
    expect(await errorOf(() => store.epochs.next('a'))).toMatchObject({ code: 'StateReplaced' })
    renameSync(`${dir}.moved`, dir)
    expect(await store.epochs.next('a')).toBe(2)
    expect(store.health).toEqual({ state: 'ok' })
    await store.close()
    expect((await tempStore({ dir })).epochs.current('a')).toBe(2)
  })

  it('with its folder, another in its place', async () => {
    const { dir, store } = await running()
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    symlinkSync('/nowhere', databaseOf(dir))
    expect(await errorOf(() => store.epochs.next('a'))).toMatchObject({ code: 'StateReplaced' })
    await store.close()
  })
})
