/** The file of the socket: whose it is, who may use it, when it is made, replaced and removed. Real files and sockets. */
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../../src/platform/log.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import { listen } from '../../../src/transports/uds/server.ts'
import { MAX_PATH_BYTES } from '../../../src/transports/uds/socket-path.ts'
import { PlayedService } from '../played-service.ts'
import { RawClient } from '../raw-client.ts'
import { onSocket, ownFolder } from './on-socket.ts'

const modeOf = (path: string): number => lstatSync(path).mode & 0o7777
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

async function answers(path: string, result: unknown = 1): Promise<void> {
  const client = new RawClient(path).send({ cmd: 'echo', args: [result] })
  expect(await client.answered(1)).toEqual([{ ok: true, result }])
  client.socket.destroy()
}

const refused = (path: string): Promise<Error> =>
  listen({ path, service: new PlayedService(), log: createLog('silent') }).then(
    () => {
      throw new Error(`${path} was not refused`)
    },
    (error: Error) => error,
  )

/** A socket file that nobody listens at. */
async function stale(path: string): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(`${path}.x`, resolve))
  linkSync(`${path}.x`, path)
  await new Promise((resolve) => server.close(resolve))
}

describe('the path', () => {
  it.each([[MAX_PATH_BYTES], [MAX_PATH_BYTES - 1]])('may have %i bytes', async (bytes) => {
    const folder = ownFolder()
    const path = join(folder, 'x'.repeat(bytes - folder.length - 1))
    await onSocket({ path })
    await answers(path)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('may have as many where most of them are the folder', async () => {
    const folder = ownFolder()
    const deep = join(folder, 'd'.repeat(MAX_PATH_BYTES - folder.length - 3))
    mkdirSync(deep)
    const path = join(deep, 's')
    expect(Buffer.byteLength(path)).toBe(MAX_PATH_BYTES)
    await onSocket({ path })
    await answers(path)
    expect(readdirSync(deep)).toEqual(['s'])
  })

  it('of more bytes is refused with its length, counted in bytes; the platform would cut it without a word', async () => {
    const folder = ownFolder()
    const path = join(folder, 'ä'.repeat(60))
    const error = await refused(path)
    expect(error).toMatchObject({
      code: 'InvalidOption',
      message: expect.stringContaining(`${Buffer.byteLength(path)}`),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([[''], ['\0abstract']])('is one: %j is refused', async (path) => {
    expect(await refused(path)).toMatchObject({ code: 'InvalidOption' })
  })
})

describe('the mode', () => {
  it.each([[0o000], [0o022]])('C106: is 0600 from the first moment on, under a umask of %i', async (umask) => {
    const before = process.umask(umask)
    onTestFinished(() => void process.umask(before))
    const folder = ownFolder()
    const path = join(folder, 's')
    const seen = new Set<string>()
    for (let round = 0; round < 20; round++) {
      let opened = false
      const opening = listen({ path, service: new PlayedService(), log: createLog('silent') }).finally(() => {
        opened = true
      })
      while (!opened) {
        for (const name of readdirSync(folder)) {
          const stats = lstatSync(join(folder, name), { throwIfNoEntry: false })
          if (stats !== undefined)
            seen.add(`${stats.isSocket() ? 'socket' : 'folder'} ${(stats.mode & 0o777).toString(8)}`)
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
      await (await opening).close()
    }
    expect([...seen].sort()).toEqual(['folder 700', 'socket 600'])
  })

  it('C106: of the folder counts: others must not be able to put another socket there, unless it is sticky', async () => {
    const folder = ownFolder()
    const path = join(folder, 's')
    chmodSync(folder, 0o777)
    expect((await refused(path)).message).toMatch(/others may write to .*chmod o-w/)
    expect(readdirSync(folder)).toEqual([])
    chmodSync(folder, 0o1777)
    await (await onSocket({ path })).server.close()
    chmodSync(folder, 0o775)
    expect((await onSocket({ path })).log).toEqual([expect.stringMatching(/the group of .* may write/)])
    await answers(path)
  })
})

describe('what is there already', () => {
  it('C103, C104: a host that answers is never pushed away, and is named', async () => {
    const { server, client } = await onSocket()
    const error = await refused(server.path)
    expect(error).toMatchObject({ code: 'InvalidOption', details: { path: server.path, live: true } })
    expect(error.message).toContain(server.path)
    expect(error.message).toContain(`host h1 answers there (process ${process.pid})`)
    expect(
      await client()
        .send({ cmd: 'echo', args: [1] })
        .answered(1),
    ).toHaveLength(1)
  })

  it('something else that listens is never pushed away either', async () => {
    const path = join(ownFolder(), 's')
    const other = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    onTestFinished(() => void other.close())
    await new Promise<void>((resolve) => other.listen(path, resolve))
    expect((await refused(path)).message).toMatch(/is in use: something listens there/)
  })

  it('a socket that nobody answers at is replaced', async () => {
    const path = join(ownFolder(), 's')
    await stale(path)
    await onSocket({ path })
    await answers(path)
    expect(modeOf(path)).toBe(0o600)
  })

  it.each([
    ['a file', (path: string) => writeFileSync(path, 'mine')],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link to a socket', (path: string) => symlinkSync(`${path}.other`, path)],
  ])('%s is left alone and refused', async (_, make) => {
    const path = join(ownFolder(), 's')
    make(path)
    const before = lstatSync(path)
    expect((await refused(path)).message).toMatch(/expected a socket or nothing at .* left alone/)
    expect(lstatSync(path)).toMatchObject({ ino: before.ino, mode: before.mode, size: before.size })
    expect(readdirSync(join(path, '..'))).toEqual(['s'])
  })

  it('C089: what belongs to somebody else is left alone, and the refusal says whose it is', async () => {
    const path = join(ownFolder(), 's')
    await stale(path)
    if (process.getuid?.() === 0) {
      chownSync(path, 4242, 4242)
      expect((await refused(path)).message).toMatch(/belongs to user 4242, and this is user 0\. It was left alone/)
      chownSync(path, 0, 0)
    }
    chmodSync(path, 0o600)
    await onSocket({ path })
    await answers(path)
  })

  it('a folder that is not there is named', async () => {
    expect((await refused(join(ownFolder(), 'missing', 's'))).message).toMatch(/expected a folder at .*missing/)
  })

  it('is replaced also where a host was killed while it did so', async () => {
    const folder = ownFolder()
    const path = join(folder, 's')
    await stale(path)
    mkdirSync(`${path}.lock`)
    utimesSync(`${path}.lock`, 0, 0)
    const server = await listen({ path, service: new PlayedService(), log: createLog('silent') })
    await answers(path)
    await server.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('of many hosts that start at once at a stale socket, exactly one has it', async () => {
    for (let round = 0; round < 20; round++) {
      const folder = ownFolder()
      const path = join(folder, 's')
      await stale(path)
      const all = await Promise.allSettled(
        Array.from({ length: 8 }, () => listen({ path, service: new PlayedService(), log: createLog('silent') })),
      )
      const won = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      expect(won).toHaveLength(1)
      await answers(path)
      await won[0]!.close()
      expect(readdirSync(folder).filter((name) => name !== 's.x')).toEqual([])
    }
  })
})

describe('on the way out', () => {
  it('no file is left', async () => {
    const folder = ownFolder()
    const { server } = await onSocket({ path: join(folder, 's') })
    expect(readdirSync(folder)).toEqual(['s'])
    await server.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('C103: the file of another that has the path by then stays, and the other stays reachable', async () => {
    const path = join(ownFolder(), 's')
    const { server: first } = await onSocket({ path })
    renameSync(path, `${path}.aside`)
    await onSocket({ path })
    await first.close()
    await answers(path)
  })
})

describe('a file that vanishes', () => {
  it('C091: is noticed and made again; clients that were there stay', async () => {
    const { server, client, clock, log } = await onSocket()
    const before = client().send({ cmd: 'echo', args: [1] })
    await before.answered(1)
    unlinkSync(server.path)
    await eventually(() => {
      clock.advance(5000)
      return exists(server.path)
    }, 'the file again')
    await answers(server.path)
    before.send({ cmd: 'echo', args: [2] })
    await before.answered(2)
    await eventually(() => log.length > 0, 'a line of the log')
    expect(log).toEqual([expect.stringMatching(/had been removed, and was made again/)])
    expect(modeOf(server.path)).toBe(0o600)
  })

  it('C091: is made again with its folder', async () => {
    const folder = ownFolder()
    const path = join(folder, 'run', 's')
    mkdirSync(join(folder, 'run'))
    const { clock } = await onSocket({ path })
    renameSync(join(folder, 'run'), join(folder, 'gone'))
    await eventually(() => {
      clock.advance(5000)
      return exists(path)
    }, 'the file again')
    await answers(path)
    expect(modeOf(join(folder, 'run'))).toBe(0o700)
  })

  it('and cannot be made again is told once', async () => {
    const folder = ownFolder()
    const path = join(folder, 'run', 's')
    mkdirSync(join(folder, 'run'))
    const { clock, log } = await onSocket({ path })
    renameSync(join(folder, 'run'), join(folder, 'gone'))
    writeFileSync(join(folder, 'run'), '')
    await eventually(() => {
      clock.advance(5000)
      return log.length > 0
    }, 'a line of the log')
    clock.advance(60_000)
    expect(log).toEqual([expect.stringMatching(/cannot be made again/)])
  })

  it("and is another's by then is left alone, and told once", async () => {
    const path = join(ownFolder(), 's')
    const { server: first, clock, log } = await onSocket({ path })
    renameSync(path, `${path}.aside`)
    const { server: second } = await onSocket({ path })
    clock.advance(60_000)
    expect(log).toEqual([expect.stringMatching(/another's now/)])
    await second.close()
    await eventually(() => {
      clock.advance(5000)
      return exists(path)
    }, 'the file of the first again')
    await answers(path)
    await first.close()
    expect(exists(path)).toBe(false)
  })
})
