/** One host at a time on a state directory, whatever path leads to it, and none that is dead in the way. */
import { readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HostLock, readHolder } from '../../src/store/lock.ts'
import { startChild } from './children.ts'
import { errorOf, tempFolder, tempState, tempStore } from './temp-store.ts'

describe('a second host on the same directory', () => {
  it('C137: in the same process is refused, by the same path and by a link', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const link = join(tempFolder(), 'link')
    symlinkSync(dir, link)
    for (const path of [dir, link, `${dir}/../state/`]) {
      const error = await errorOf(() => tempStore({ dir: path }))
      expect(error.code).toBe('StateInUse')
      expect(error.message).toContain(`in use by this very process (pid ${process.pid})`)
    }
    await store.epochs.next('a')
    expect(store.health).toEqual({ state: 'ok' })
  })

  it('is told the pid, since when, and how to reach the first', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const silent = await errorOf(() => tempStore({ dir }))
    expect(silent.message).toContain('it has no socket; end it by a signal to its pid')
    store.setSocket('/run/holt.sock')
    const error = await errorOf(() => tempStore({ dir }))
    expect(error.message).toContain("reach it with 'holt status --socket /run/holt.sock'")
    expect(error.details).toEqual({ path: dir, ...readHolder(dir) })
    expect(readHolder(dir)).toMatchObject({ pid: process.pid, socket: '/run/holt.sock' })
    store.setSocket(null)
    expect(readHolder(dir)).toMatchObject({ socket: null })
  })

  it('C137: in another process is refused either way round, and its pid named', async () => {
    const dir = tempState()
    const child = startChild('hold', dir)
    const { pid } = (await child.line(1)) as { pid: number }
    expect(pid).toBe(child.process.pid)
    const error = await errorOf(() => tempStore({ dir }))
    expect(error).toMatchObject({ code: 'StateInUse', details: { pid } })
    child.process.stdin!.end()
    expect(await child.ended).toEqual({ code: 0, signal: null })
    const store = await tempStore({ dir })
    expect(store.afterCrash).toBe(false)
    const other = startChild('open', dir)
    expect(await other.line(1)).toMatchObject({
      code: 'StateInUse',
      message: expect.stringContaining(`${process.pid}`),
    })
    await other.ended
    expect((await store.check()).state).toBe('ok')
  })

  it('C092: may have the directory once the first was killed, and finds that it was', async () => {
    const dir = tempState()
    const child = startChild('hold', dir)
    await child.line(1)
    child.process.kill('SIGKILL')
    await child.ended
    expect(readHolder(dir)).toMatchObject({ pid: child.process.pid })
    const store = await tempStore({ dir })
    expect(store.afterCrash).toBe(true)
    expect(readHolder(dir)).toMatchObject({ pid: process.pid })
    await store.close()
    expect((await tempStore({ dir })).afterCrash).toBe(false)
  })

  it('C092: is not kept away by a note that names a live process which is no host', async () => {
    const dir = tempState()
    await (await tempStore({ dir })).close()
    writeFileSync(join(dir, 'host.json'), JSON.stringify({ pid: process.ppid, startedAt: 1, socket: null }))
    expect((await tempStore({ dir })).afterCrash).toBe(true)
  })

  it('is refused without a name where the note is missing, damaged, or names one who is dead', async () => {
    const dir = tempState()
    await tempStore({ dir })
    const note = join(dir, 'host.json')
    const dead = JSON.stringify({ pid: 2 ** 22 + 1, startedAt: 1, socket: null })
    for (const text of ['', 'nonsense', '{}', '{"pid":-1,"startedAt":1}', dead, null]) {
      if (text === null) unlinkSync(note)
      else writeFileSync(note, text)
      const error = await errorOf(() => tempStore({ dir }))
      expect(error.code).toBe('StateInUse')
      expect(error.message).toContain('another host that has not said yet who it is')
    }
  })
})

describe('the lock', () => {
  it('is free again after it was released in the same process, and is held by its file', () => {
    const dir = tempFolder()
    const first = new HostLock(dir, 1)
    expect(() => new HostLock(dir, 1)).toThrow('in use')
    first.release()
    const second = new HostLock(dir, 1)
    onTestFinished(() => second.release())
    expect(second.afterCrash).toBe(false)
  })

  it('keeps its note where the start failed after a crash, so that the next one still knows', () => {
    const dir = tempFolder()
    new HostLock(dir, 1).release({ keepNote: true })
    const next = new HostLock(dir, 1)
    expect(next.afterCrash).toBe(true)
    next.release()
    expect(readHolder(dir)).toBeNull()
  })

  it('has files for its owner alone', async () => {
    const dir = tempState()
    await tempStore({ dir })
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    for (const name of ['holt.db', 'holt.db-wal', 'holt.db-shm', 'host.lock', 'host.json']) {
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600])
    }
    expect(JSON.parse(readFileSync(join(dir, 'host.json'), 'utf8'))).toMatchObject({ pid: process.pid })
  })

  it.each(['a text file', 'a folder'])('that is %s is refused as what it is', async (kind) => {
    const dir = tempState()
    await (await tempStore({ dir })).close()
    const path = join(dir, 'host.lock')
    unlinkSync(path)
    if (kind === 'a folder') symlinkSync(tempFolder(), path)
    else writeFileSync(path, 'no database, but long enough to be taken for one'.repeat(100), { mode: 0o600 })
    const error = await errorOf(() => tempStore({ dir }))
    expect(error.code).toBe(kind === 'a folder' ? 'StateUnreadable' : 'StateCorrupt')
    expect(error.message).toContain(path)
  })
})
