/** Starts and the memory there is: who is refused, who is left aside and when that is tried again, and who never is. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Strategy } from '../../src/manifest/fleet-manifest.ts'
import type { SpawnOptions } from '../../src/model/spawn.ts'
import { createTestHost, type TestHost } from '../../src/testkit/index.ts'

const RETRY_MS = 5000
const THREAD_MB = 8

/** The machine; every thread takes so much of it. */
class Machine {
  totalMb: number
  kit: TestHost | null = null

  constructor(totalMb = 1000) {
    this.totalMb = totalMb
  }

  read = (): { availableMb: number; rssMb: number } => {
    const usedMb = (this.kit?.threads.alive.length ?? 0) * THREAD_MB
    return { availableMb: this.totalMb - usedMb, rssMb: 50 + usedMb }
  }
}

const kits: TestHost[] = []
afterEach(async () => {
  for (const kit of kits.splice(0)) await kit.close()
})

// An agent of a program's own, where a role may only name a folder.
const NEW = { agent: { id: 'new', name: 'New', roles: ['role.js'] } } as unknown as SpawnOptions

interface Setting {
  readonly agents: readonly string[]
  readonly strategy?: Strategy
  readonly machine: Machine
  readonly minFreeMb?: number
}

const child = (id: string) => ({ agent: { id, name: id, restart: { backoff: 'none' as const } } })

async function hostOn({ agents, strategy = 'one_for_one', machine, minFreeMb = 100 }: Setting) {
  const kit = await createTestHost({
    fleet: {
      supervisor: { id: 'root', strategy },
      children: [
        ...agents.map(child),
        ...(strategy === 'one_for_one' ? [{ supervisor: { id: 'crew', strategy: 'dynamic' as const } }] : []),
      ],
    },
    memory: () => machine.read(),
    minFreeMb,
  })
  kits.push(kit)
  machine.kit = kit
  return { kit, host: kit.host }
}

const phases = ({ host }: TestHost): string =>
  host
    .agents()
    .map(({ phase }) => phase)
    .join(' ')

describe('an agent for which there is no memory', () => {
  it('is not started when somebody asks for it, and nothing of it has changed', async () => {
    const machine = new Machine()
    const { kit, host } = await hostOn({ agents: ['a', 'b'], machine })
    await kit.finish(host.agent('a').stop())
    machine.totalMb = 110
    const refused = await kit.finish(host.agent('a').start()).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'NotEnoughMemory',
      details: { needMb: 8, availableMb: 102, minFreeMb: 100 },
      message: expect.stringContaining("agent 'a' needs about 8 MB, and 100 MB are to stay free (minFreeMb)"),
    })
    expect(host.agent('a').snapshot()).toMatchObject({
      phase: 'STOPPED',
      intent: 'stopped',
      lastDeath: { cause: 'shutdown' },
    })
    machine.totalMb = 116
    await kit.finish(host.agent('a').start())
    expect(host.agent('a').phase).toBe('ACTIVE')
  })

  it('is not added when it is spawned', async () => {
    const machine = new Machine()
    const { kit, host } = await hostOn({ agents: ['a'], machine })
    machine.totalMb = 110
    await expect(kit.finish(host.spawn('crew', NEW))).rejects.toMatchObject({ code: 'NotEnoughMemory' })
    expect(host.agents().map(({ id }) => id)).toEqual(['a'])
    machine.totalMb = 120
    await kit.finish(host.spawn('crew', NEW))
    expect(host.agent('new').phase).toBe('ACTIVE')
  })

  it('comes back all the same where it ran: by its supervisor, by a restart, after a kill', async () => {
    const machine = new Machine()
    const { kit, host } = await hostOn({ agents: ['a'], machine })
    machine.totalMb = 0
    const a = host.agent('a')
    await kit.finish(a.kill())
    await kit.advance(1)
    expect([a.phase, a.deaths().length]).toEqual(['ACTIVE', 1])
    await kit.finish(a.restart())
    expect([a.phase, a.deaths().length]).toEqual(['ACTIVE', 2])
  })

  it('is started where nothing is to be looked at', async () => {
    const machine = new Machine(0)
    const { kit } = await hostOn({ agents: ['a', 'b'], machine, minFreeMb: 0 })
    expect(phases(kit)).toBe('ACTIVE ACTIVE')
  })
})

describe('a fleet for which there is not memory enough', () => {
  it('has the rest left aside, says so, and starts them in order once there is', async () => {
    const machine = new Machine(90)
    const { kit, host } = await hostOn({ agents: ['a', 'b', 'c'], machine })
    expect(phases(kit)).toBe('STOPPED STOPPED STOPPED')
    expect(host.agent('b').snapshot()).toMatchObject({
      intent: 'running',
      status: 'Stopped',
      lastDeath: null,
      restarts: 0,
    })
    expect(host.why('b')).toMatchObject({
      sentences: [
        "STOPPED: not started for want of memory: agent 'b' needs about 8 MB, and 100 MB are to stay free (minFreeMb): the machine has 90 MB left. Stop other agents, give the host more memory, or lower minFreeMb in holt.yml. It is tried again every 5 s",
      ],
    })
    await kit.advance(RETRY_MS * 3)
    expect(phases(kit)).toBe('STOPPED STOPPED STOPPED')
    machine.totalMb = 120
    await kit.advance(RETRY_MS)
    expect(phases(kit)).toBe('ACTIVE ACTIVE STOPPED')
    machine.totalMb = 200
    await kit.advance(RETRY_MS)
    expect(phases(kit)).toBe('ACTIVE ACTIVE ACTIVE')
    expect(host.why('c').sentences[0]).toMatch(/^ACTIVE: it runs/)
    const told: string[] = []
    host.facts({ since: 0, kinds: ['agent.not_started'] }).subscribe(({ agent }) => told.push(agent ?? ''))
    await kit.settle()
    expect(told).toEqual(['a', 'b', 'c'])
  })

  it('has one that somebody stops, starts or that is not wanted any more taken off the list', async () => {
    const machine = new Machine(90)
    const { kit, host } = await hostOn({ agents: ['a', 'b'], machine })
    await kit.finish(host.agent('a').stop())
    expect(host.why('a').sentences[0]).toMatch(/^STOPPED \(stopped\): stopped by/)
    for (const command of ['start', 'restart'] as const)
      await expect(kit.finish(host.command('b', command))).rejects.toMatchObject({ code: 'NotEnoughMemory' })
    machine.totalMb = 200
    await kit.finish(host.agent('b').start())
    await kit.advance(RETRY_MS * 2)
    expect(phases(kit)).toBe('STOPPED ACTIVE')
    expect(host.agent('b').snapshot().instance?.epoch).toBeDefined()
    expect(host.agent('b').deaths()).toEqual([])
  })

  it.each<Strategy>(['one_for_all', 'rest_for_one'])(
    'under %s starts nobody before the one that waits',
    async (strategy) => {
      const machine = new Machine()
      machine.totalMb = 90
      // Memory is back the moment after the first has been refused.
      let asked = 0
      const read = machine.read
      machine.read = () => (++asked > 2 ? { availableMb: 1000, rssMb: 50 } : read())
      const { kit, host } = await hostOn({ agents: ['a', 'b'], strategy, machine })
      expect(phases(kit)).toBe('STOPPED STOPPED')
      expect(host.why('b').sentences[0]).toContain("it starts after 'a', which waits for memory")
      await kit.advance(RETRY_MS)
      expect(phases(kit)).toBe('ACTIVE ACTIVE')
    },
  )

  it('is started by a command to its supervisor, as far as there is room', async () => {
    const machine = new Machine(90)
    const { kit, host } = await hostOn({ agents: ['a', 'b'], machine })
    machine.totalMb = 110
    await kit.finish(host.command('root', 'start'))
    expect(phases(kit)).toBe('ACTIVE STOPPED')
  })

  it('leaves no timer behind when the host ends', async () => {
    const machine = new Machine(90)
    const { kit, host } = await hostOn({ agents: ['a'], machine })
    await kit.finish(host.shutdown())
    expect([phases(kit), kit.clock.timers]).toEqual(['STOPPED', 0])
  })
})
