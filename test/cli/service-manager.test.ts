/** What systemd is told: in order, as often as it asks for, and never to the host's harm. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { missingInit, runNotify, ServiceManager } from '../../src/cli/service-manager.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function managed(env: Record<string, string>, run?: () => Promise<void>) {
  const said: string[][] = []
  const warned: string[] = []
  const clock = new FakeClock()
  const manager = new ServiceManager({
    env,
    pid: 42,
    clock,
    warn: (text) => warned.push(text),
    run: async (words) => {
      said.push([...words])
      await run?.()
    },
  })
  return { manager, clock, said, warned }
}

const SOCKET = { NOTIFY_SOCKET: '/run/systemd/notify' }
const beats = (said: string[][]): number => said.filter(([word]) => word === 'WATCHDOG=1').length

describe('the service manager', () => {
  it('is told that the fleet is up, alive at half of its time, and stopping', async () => {
    const { manager, clock, said } = managed({ ...SOCKET, WATCHDOG_USEC: '10000000', WATCHDOG_PID: '42' })
    manager.ready('2 Running\nREADY=0')
    await turn()
    expect(said).toEqual([['READY=1', 'STATUS=2 Running READY=0']])
    for (let n = 0; n < 3; n++) {
      clock.advance(5000)
      await turn()
    }
    expect(beats(said)).toBe(3)
    await manager.stopping('2 Stopping')
    expect(said.at(-1)).toEqual(['STOPPING=1', 'STATUS=2 Stopping'])
    manager.close()
    clock.advance(60_000)
    await turn()
    expect(beats(said)).toBe(3)
  })

  it.each([
    ['it does not ask', { WATCHDOG_USEC: '1000000' }, 0],
    ['no watchdog', SOCKET, 1],
    ['the watchdog of another process', { ...SOCKET, WATCHDOG_USEC: '1000000', WATCHDOG_PID: '43' }, 1],
    ['a time that is none', { ...SOCKET, WATCHDOG_USEC: 'soon' }, 1],
    ['an empty socket', { NOTIFY_SOCKET: '' }, 0],
  ])('%s', async (_, env, words) => {
    const { manager, clock, said } = managed(env)
    manager.ready('1 Running')
    clock.advance(60_000)
    await turn()
    expect(said).toHaveLength(words)
  })

  it('a program that fails is told once, and goes on being tried', async () => {
    const { manager, said, warned } = managed(SOCKET, () => Promise.reject(new Error('spawn ENOENT')))
    manager.ready('1 Running')
    await manager.stopping('1 Stopping')
    expect(said).toHaveLength(2)
    expect(warned).toEqual(['systemd cannot be told how the host stands: spawn ENOENT'])
  })

  it('a program that hangs is not joined by others', async () => {
    const { manager, clock, said } = managed({ ...SOCKET, WATCHDOG_USEC: '1000000' }, () => new Promise(() => {}))
    manager.ready('1 Running')
    for (let n = 0; n < 5; n++) {
      clock.advance(500)
      await turn()
    }
    expect(said).toHaveLength(1)
    manager.close()
  })

  it('runs systemd-notify without a shell', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'holt-notify-'))
    const path = process.env['PATH']
    onTestFinished(async () => {
      process.env['PATH'] = path
      await rm(dir, { recursive: true, force: true })
    })
    const program = join(dir, 'systemd-notify')
    await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${dir}/said'\n`)
    await chmod(program, 0o755)
    process.env['PATH'] = `${dir}:${path}`
    await runNotify(['READY=1', 'STATUS=$(id) 1 Running'])
    expect(await readFile(join(dir, 'said'), 'utf8')).toBe('READY=1\nSTATUS=$(id) 1 Running\n')
    process.env['PATH'] = dir
    await rm(program)
    await expect(runNotify(['READY=1'])).rejects.toThrow('ENOENT')
  })

  it('process 1 is told that an init is missing', () => {
    expect(missingInit(1)).toContain('docker run --init')
    expect(missingInit(42)).toBeNull()
  })
})
