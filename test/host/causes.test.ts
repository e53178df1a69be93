/** The ways in which an instance ends, told apart by who, what and when; and that nothing of it stays behind. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { HoltError } from '../../src/model/error.ts'
import type { Fact } from '../../src/model/fact.ts'
import { HEADROOM } from '../../src/model/heap.ts'
import { machineMemoryMb } from '../../src/platform/memory.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, at, type FleetText, hostFleet, openFleet, role, writeFleet } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'
import { runProgram } from '../program.ts'
import { expectComplete } from './thrown.ts'

/** Waits at a gate whatever it is told, or ends in a way of its own. */
const ENDS = role(
  `commands: {
    hold: { async handle(cells) { await wait(cells) } },
    exit: { handle() { process.exit(3) } },
    fill: { handle() { const all: object[] = []; for (;;) all.push({ a: [1, 2, 3] }) } },
    throw: { handle() { throw new Error('by request') } },
  }`,
  AT_GATE,
)

const patient = (stopTimeoutMs: number) => ({ role: ENDS, manifest: { limits: { stopTimeoutMs, heapMb: 16 } } })

describe('C014 eight ways to end', () => {
  it('are eight causes that can be told apart, and whoever waited is told the same', async () => {
    const agents: FleetText['agents'] = {
      operator: patient(100),
      stopped: patient(100),
      first: patient(100),
      second: patient(100),
      memory: patient(100),
      late: {
        role: role('', 'for (;;);'),
        manifest: { limits: { bootTimeoutMs: 300 }, restart: { type: 'temporary' } },
      },
      own: patient(100),
      shutdown: patient(60_000),
    }
    const host = await openFleet({
      agents,
      children: [
        ...['operator', 'memory', 'own', 'shutdown', 'late'].map((id) => ({ agent: at(id) })),
        { supervisor: { id: 'department' }, children: [{ agent: at('stopped') }] },
        {
          supervisor: { id: 'together', strategy: 'one_for_all' },
          children: [{ agent: at('first') }, { agent: at('second') }],
        },
      ],
    })
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): unknown => unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    await host.start()
    const rejections = new Map<string, Promise<HoltError>>()
    const held = async (id: string): Promise<AgentRef> => {
      const gate = new Gate()
      const asked = host.agent(id).ask('hold', gate.cells, { timeoutMs: 20_000 })
      rejections.set(
        id,
        asked.then(
          () => expect.unreachable(`${id} answered`),
          (error) => error,
        ),
      )
      await eventually(() => gate.reached === 1, `${id} at its gate`)
      return host.agent(id)
    }
    const asked = (id: string, command: string): unknown =>
      rejections.set(
        id,
        host
          .agent(id)
          .ask(command)
          .then(
            () => expect.unreachable(`${id} answered`),
            (error) => error,
          ),
      )

    for (const id of ['operator', 'stopped', 'second', 'shutdown']) await held(id)
    await host.agent('operator').stop({ by: 'me', now: true })
    await host.command('department', 'stop', { by: 'you' })
    asked('first', 'throw')
    asked('memory', 'fill')
    asked('own', 'exit')
    for (const id of ['first', 'second', 'memory', 'own'])
      await eventually(() => host.agent(id).deaths().length === 1 && host.agent(id).phase === 'ACTIVE', `${id} is back`)
    await host.shutdown({ timeoutMs: 300, by: 'them' })

    const records = Object.keys(agents).map((id) => host.agent(id).deaths()[0]!)
    for (const record of records) expectComplete(record)
    const told = records.map(({ agent, cause, decision }) => [agent, cause, decision.rule, decision.by ?? null])
    expect(told).toEqual([
      ['operator', 'shutdown', 'command', 'me'],
      ['stopped', 'shutdown_timeout', 'supervisor', 'department'],
      ['first', 'crash', 'restart_type', null],
      ['second', 'shutdown_timeout', 'strategy', 'first'],
      ['memory', 'out_of_memory', 'restart_type', null],
      ['late', 'start_timeout', 'restart_type', null],
      ['own', 'exit', 'restart_type', null],
      ['shutdown', 'shutdown_timeout', 'host_shutdown', 'them'],
    ])
    expect(new Set(told.map(([, ...how]) => how.join())).size).toBe(8)
    for (const record of records) {
      if (record.agent === 'late') continue
      const error = await rejections.get(record.agent)!
      if (record.agent === 'first')
        expect(error).toMatchObject({ message: 'by request', fatal: true, deathId: record.id })
      else expect(error, record.agent).toMatchObject({ code: 'AgentDied', details: { deathId: record.id, record } })
    }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })
})

describe('C020 the heap of each agent', () => {
  it('is what the manifest says or its default, shown, and the same for one as for many', async () => {
    const shows = role(
      'commands: { limits: { handle: () => resourceLimits } }',
      `import { resourceLimits } from 'node:worker_threads'`,
    )
    const ids = Array.from({ length: 6 }, (_, n) => `a${n}`)
    const agents = Object.fromEntries(ids.map((id) => [id, { role: shows }]))
    const host = await hostFleet({ agents: { ...agents, own: { role: shows, manifest: { limits: { heapMb: 128 } } } } })
    for (const id of [...ids, 'own']) {
      const { heapMb } = host.detail(id).limits
      expect(heapMb).toBe(id === 'own' ? 128 : 64)
      expect(await host.agent(id).ask('limits')).toMatchObject({
        maxOldGenerationSizeMb: heapMb * HEADROOM,
        stackSizeMb: 4,
      })
    }
  })

  it('are warned of where they add up to more than there is', async () => {
    const memoryMb = machineMemoryMb()
    const large = { limits: { heapMb: Math.ceil(memoryMb / 2) } }
    const told: Fact[] = []
    for (const ids of [['a'], ['a', 'b', 'c']]) {
      const host = await openFleet({
        agents: Object.fromEntries(ids.map((id) => [id, { role: ENDS, manifest: { ...large, autostart: false } }])),
      })
      host.facts$.subscribe((fact) => fact.kind === 'host.heaps_exceed_memory' && told.push(fact))
      await host.start()
    }
    await eventually(() => told.length > 0, 'the warning')
    expect(told).toMatchObject([{ level: 'warn', data: { heapsMb: 3 * Math.ceil(memoryMb / 2), memoryMb } }])
  })
})

describe('what is left behind', () => {
  it('C016 of fifty agents that were started, stopped and crashed: nothing, and the process ends', async () => {
    const dir = await writeFleet({ agents: { a: { role: ENDS } } })
    // All of one role, which is compiled once.
    const children = Array.from({ length: 50 }, (_, n) => ({
      agent: { id: `a${n}`, name: 'A', roles: [`${at('a')}/roles/role.ts`], restart: { type: 'temporary' } },
    }))
    const options = { fleet: { children }, baseDir: dir, log: 'silent' }
    const text = `
      const kinds = () => process.getActiveResourcesInfo().filter((kind) => /Port|Worker|Timeout|Immediate|Pipe|Process|FSReq/.test(kind)).sort().join()
      const before = kinds()
      const host = await createHost(${JSON.stringify(options)})
      const agents = host.agents()
      await Promise.all(agents.slice(0, 15).map((agent) => agent.stop()))
      await Promise.all(agents.slice(15, 30).map((agent) => agent.ask('throw').catch(() => {})))
      await Promise.all(agents.slice(30, 40).map((agent) => agent.ask('exit').catch(() => {})))
      await Promise.all(agents.slice(40, 45).map((agent) => agent.kill()))
      console.log(Object.entries(host.fleet().counts).map(([status, count]) => status + ' ' + count).join())
      const { killed, stuck } = await host.shutdown()
      console.log(killed.length, stuck.length)
      await new Promise((resolve) => setImmediate(resolve))
      console.log(kinds() === before ? 'as before' : 'before: ' + before + ', after: ' + kinds())
    `
    expect(await runProgram(text)).toEqual({ code: 0, stdout: 'Stopped 45,Running 5\n0 0\nas before\n', stderr: '' })
  })

  it('C023 of agents that are ended inside the platform’s own native parts: nothing is torn', async () => {
    const natives = role(
      `events: { work() { void forever(); }, die() { void forever(); setImmediate(() => { throw new Error('in the middle') }) } }`,
      `import { createHash, randomBytes, scrypt } from 'node:crypto'
import { lookup } from 'node:dns'
import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { brotliCompress, createGzip } from 'node:zlib'
async function forever(): Promise<void> {
  const server = createServer().listen(0)
  const file = await open(import.meta.filename)
  const gzip = createGzip()
  gzip.resume()
  for (;;) {
    gzip.write(randomBytes(65_536))
    brotliCompress(randomBytes(65_536), () => {})
    scrypt('secret', 'salt', 32, () => {})
    lookup('localhost', () => {})
    createHash('sha256').update(randomBytes(65_536)).digest()
    await file.read(Buffer.alloc(1024), 0, 1024, 0)
    server.getConnections(() => {})
  }
}`,
    )
    const dir = await writeFleet({
      agents: { native: { role: natives, manifest: AT_ONCE }, good: { role: ENDS } },
      supervisor: { id: 'root', intensity: 10_000 },
    })
    const text = `
      const host = await createHost({ fleet: ${JSON.stringify(dir)}, log: 'silent' })
      const native = host.agent('native')
      const died = (count) => new Promise((resolve) => {
        const look = () => native.deaths().length === Math.min(count, 64) && native.phase === 'ACTIVE' ? resolve() : setTimeout(look, 1)
        look()
      })
      for (let n = 0; n < 24; n++) {
        if (n % 2 === 0) {
          await native.emit('work')
          await new Promise((resolve) => setTimeout(resolve, n % 8))
          await native.kill()
        } else native.tell('die')
        await died(n + 1)
      }
      console.log([...new Set(native.deaths().map(({ cause }) => cause))].join(), host.agent('good').phase)
      console.log(JSON.stringify((await host.shutdown()).stuck))
    `
    expect(await runProgram(text)).toEqual({ code: 0, stdout: 'killed,crash ACTIVE\n[]\n', stderr: '' })
  })
})
