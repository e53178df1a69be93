/** Looking into the thread of an agent. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND } from './hand.ts'

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'holt-inspect-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const hostHand = (stateDir: string) => hostFleet({ agents: { hand: { role: HAND } } }, { stateDir })

describe('inspect', () => {
  it('writes a CPU profile into the state directory, for its owner alone, and the agent goes on', async () => {
    const stateDir = folder()
    const host = await hostHand(stateDir)
    const made = await host.inspections.inspect('hand', { cpu: 50 })
    expect(made).toMatchObject({ agent: 'hand', kind: 'cpu', path: expect.stringMatching(/hand-.*\.cpuprofile$/) })
    expect(made.path.startsWith(join(stateDir, 'inspect'))).toBe(true)
    expect(statSync(made.path)).toMatchObject({ size: made.bytes })
    expect(statSync(made.path).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(made.path, 'utf8'))).toMatchObject({
      nodes: expect.any(Array),
      startTime: expect.any(Number),
    })
    expect(await host.agent('hand').ask('ping')).toBe('pong')
  })

  it('writes a heap snapshot where it is told to, of a thread that is busy too', async () => {
    const host = await hostHand(':memory:')
    const gate = new Gate()
    host.agent('hand').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    const out = join(folder(), 'hand.heapsnapshot')
    const made = await host.inspections.inspect('hand', { heap: true, out })
    expect(made).toMatchObject({ kind: 'heap', path: out })
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ snapshot: { meta: expect.any(Object) } })
    await host.agent('hand').kill()
  })

  it('overwrites nothing, and says where it cannot write', async () => {
    const dir = folder()
    const host = await hostHand(':memory:')
    const out = join(dir, 'taken')
    writeFileSync(out, 'mine')
    const inspect = (options: object) => host.inspections.inspect('hand', options)
    await expect(inspect({ out })).rejects.toMatchObject({ code: 'InvalidOption' })
    expect(readFileSync(out, 'utf8')).toBe('mine')
    await expect(inspect({ out: join(dir, 'no', 'where') })).rejects.toMatchObject({ code: 'InvalidOption' })
    await expect(inspect({})).rejects.toThrow('out: expected a path, since the state of this host is in memory')
  })

  it('is refused where no thread runs, or one is being looked into, and fails with the death of the agent', async () => {
    const dir = folder()
    const host = await hostHand(':memory:')
    await expect(host.inspections.inspect('hnad')).rejects.toMatchObject({ code: 'NoSuchAgent' })
    const first = host.inspections.inspect('hand', { heap: true, out: join(dir, 'first') })
    await expect(host.inspections.inspect('hand', { out: join(dir, 'b') })).rejects.toMatchObject({
      code: 'CommandBusy',
    })
    await first
    const gate = new Gate()
    host.agent('hand').tell('block', gate.cells)
    await eventually(() => gate.reached === 1, 'a thread that is held')
    const cut = host.inspections.inspect('hand', { out: join(dir, 'cut') })
    const failed = expect(cut).rejects.toMatchObject({ code: 'AgentDied' })
    await eventually(() => readdirSync(dir).includes('cut'), 'the file')
    await host.agent('hand').suspend()
    await failed
    expect(readdirSync(dir)).toEqual(['first'])
    await expect(host.inspections.inspect('hand', { out: join(dir, 'c') })).rejects.toMatchObject({
      code: 'InvalidCommand',
    })
  })
})
