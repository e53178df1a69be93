/** Which socket a client speaks to, and where that of a fleet is. */
import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findSocket } from '../../../src/transports/client/find-socket.ts'
import { makeFolders, socketFor } from '../../../src/transports/uds/fleet-socket.ts'
import { MAX_PATH_BYTES } from '../../../src/transports/uds/socket-path.ts'
import { ownFolder } from '../uds/on-socket.ts'

function fleet(name = 'my fleet'): string {
  const dir = join(ownFolder(), name)
  mkdirSync(join(dir, 'agents', 'counter'), { recursive: true })
  writeFileSync(join(dir, 'holt.yml'), '')
  return dir
}

describe('the socket of a fleet', () => {
  it('is in a folder of the user, named after the fleet and its place', () => {
    const dir = fleet()
    const run = ownFolder()
    expect(socketFor(dir, { XDG_RUNTIME_DIR: run })).toMatch(
      new RegExp(`^${run}/holt/my-fleet-[0-9a-f]{12}/holt\\.sock$`),
    )
    expect(socketFor(dir, {})).toMatch(new RegExp(`^${tmpdir()}/holt-\\d+/my-fleet-[0-9a-f]{12}/holt\\.sock$`))
    expect(socketFor(fleet(), {})).not.toBe(socketFor(dir, {}))
  })

  it('is the same by every way to the folder', () => {
    const dir = fleet()
    const link = join(ownFolder(), 'link')
    symlinkSync(dir, link)
    for (const way of [`${dir}/`, `${dir}/agents/..`, link]) expect(socketFor(way, {})).toBe(socketFor(dir, {}))
  })

  it('is never too long for a socket, whatever the fleet and the folders are called', () => {
    const dir = fleet('ä'.repeat(120))
    const long = join(ownFolder(), 'x'.repeat(90))
    mkdirSync(long)
    for (const env of [{}, { XDG_RUNTIME_DIR: long }, { XDG_RUNTIME_DIR: ownFolder() }]) {
      expect(Buffer.byteLength(socketFor(dir, env))).toBeLessThanOrEqual(MAX_PATH_BYTES)
    }
  })

  it("is not in a runtime folder that is not there, or is somebody else's", () => {
    const dir = fleet()
    const run = ownFolder()
    const elsewhere = socketFor(dir, {})
    expect(socketFor(dir, { XDG_RUNTIME_DIR: join(run, 'missing') })).toBe(elsewhere)
    expect(socketFor(dir, { XDG_RUNTIME_DIR: 'relative' })).toBe(elsewhere)
    if (process.getuid?.() !== 0) return
    chownSync(run, 4242, 4242)
    expect(socketFor(dir, { XDG_RUNTIME_DIR: run })).toBe(elsewhere)
  })

  it('has folders for its owner alone', () => {
    const path = socketFor(fleet(), { XDG_RUNTIME_DIR: ownFolder() })
    makeFolders(path)
    makeFolders(path)
    for (const folder of [dirname(path), dirname(dirname(path))]) expect(lstatSync(folder).mode & 0o777).toBe(0o700)
    chmodSync(dirname(path), 0o755)
    makeFolders(path)
    expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700)
  })

  it('C089: is refused where a folder above it was made by somebody else, or is none', () => {
    const path = socketFor(fleet(), { XDG_RUNTIME_DIR: ownFolder() })
    makeFolders(path)
    const own = dirname(path)
    if (process.getuid?.() === 0) {
      chownSync(own, 4242, 4242)
      expect(() => makeFolders(path)).toThrow(/belongs to user 4242, and this is user 0/)
    }
    const other = socketFor(fleet(), { XDG_RUNTIME_DIR: ownFolder() })
    mkdirSync(dirname(dirname(other)))
    symlinkSync(own, dirname(other))
    expect(() => makeFolders(other)).toThrow(/expected a folder at/)
  })
})

describe('a client finds a socket', () => {
  const cwd = ownFolder

  it('by what it is told, then by the environment, then by the fleet it stands in', () => {
    const dir = fleet()
    const env = { HOLT_UDS_PATH: '/run/env.sock' }
    expect(findSocket({ socket: 'a.sock', cwd: dir, env })).toEqual({
      path: join(dir, 'a.sock'),
      by: 'option',
      fleetDir: null,
    })
    expect(findSocket({ cwd: dir, env })).toEqual({ path: '/run/env.sock', by: 'env', fleetDir: null })
    const found = { path: socketFor(dir, {}), by: 'fleet', fleetDir: dir }
    expect(findSocket({ cwd: dir, env: {} })).toEqual(found)
    expect(findSocket({ cwd: join(dir, 'agents', 'counter'), env: { HOLT_UDS_PATH: '' } })).toEqual(found)
  })

  it('or says what it looked for', () => {
    const here = cwd()
    expect(() => findSocket({ cwd: here, env: {} })).toThrow(
      expect.objectContaining({
        code: 'NoHost',
        message: expect.stringMatching(/--socket, HOLT_UDS_PATH or a folder with a holt\.yml .* found none of them at/),
      }),
    )
  })
})
