/** Restarts on warm spares, with real threads: the instance is the agent's own in every respect, and nothing is left behind. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { HEADROOM } from '../../src/model/heap.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { type AgentText, AT_ONCE, type FleetText, hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { runProgram } from '../program.ts'

/** Every thread that was started, spares and others, with the name it was started under. */
const started = vi.hoisted(() => ({ threads: [] as { name: string; heapMb: number; worker: Worker }[] }))

vi.mock('../../src/actors/spawn.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/actors/spawn.ts')>()
  return {
    ...original,
    spawnThread: (name: string, heapMb: number) => {
      const worker = original.spawnThread(name, heapMb)
      started.threads.push({ name, heapMb, worker })
      return worker
    },
  }
})

const isAlive = ({ worker }: { worker: Worker }): boolean => worker.threadId > 0
const spares = () => started.threads.filter((thread) => thread.name === 'spare' && isAlive(thread))
const cold = (): number => started.threads.filter(({ name }) => name !== 'spare').length

const SELF = role(
  `commands: {
    self: { handle: (_, ctx) => ({
      agent: ctx.agent, instance: ctx.instance, epoch: ctx.epoch, thread: threadId,
      env: { ...process.env }, atImport, limits: resourceLimits, argv: process.argv.slice(2), execArgv: process.execArgv,
      listeners: process.eventNames().map(String).sort(), globals: Object.keys(globalThis).sort(),
    }) },
    leave: { handle() { (globalThis as any).left = 1; process.env.LEFT = '1' } },
  },
  events: { die() { throw new Error('by request') }, grow() { const all: object[] = []; for (;;) all.push({ a: [1] }) } }`,
  `import { resourceLimits, threadId } from 'node:worker_threads'\nconst atImport = { ...process.env }`,
)

interface Self {
  readonly agent: string
  readonly instance: string
  readonly epoch: number
  readonly thread: number
  readonly env: Record<string, string>
  readonly atImport: Record<string, string>
  readonly limits: { readonly maxOldGenerationSizeMb: number }
  readonly globals: readonly string[]
}

async function withSpares(fleet: FleetText, count: number): Promise<string> {
  const dir = await writeFleet(fleet)
  const yml = JSON.parse(await readFile(`${dir}/holt.yml`, 'utf8'))
  await writeFile(`${dir}/holt.yml`, JSON.stringify({ ...yml, spares: count }))
  return dir
}

const self = (text: Partial<AgentText> = {}, heapMb = 64): AgentText => ({
  role: SELF,
  ...text,
  manifest: { ...AT_ONCE, limits: { heapMb } },
})

beforeEach(() => {
  started.threads = []
})

describe('an instance on a spare', () => {
  it('is the agent’s own: name, instance, epoch, environment and limits; nothing of the life of the spare is left', async () => {
    vi.stubEnv('HOLT_API_TOKEN', 'top secret')
    const dir = await withSpares(
      {
        agents: { a: self({ files: { '.env': 'X=of a\n' } }), b: self({ files: { '.env': 'X=of b\n' } }, 32) },
        supervisor: NO_BUDGET,
      },
      1,
    )
    const host = await hostFleet(dir)
    await eventually(() => spares().length === 2, 'a spare of each size')
    for (const [id, heapMb] of [
      ['a', 64],
      ['b', 32],
    ] as const) {
      const ref = host.agent(id)
      const first = (await ref.ask('self')) as Self
      await ref.ask('leave')
      const spare = spares().find((one) => one.heapMb === heapMb)!
      const { threadId } = spare.worker
      ref.tell('die')
      await eventually(() => ref.deaths().length === 1 && ref.phase === 'ACTIVE', 'its successor')
      const second = (await ref.ask('self')) as Self
      expect(second.thread).toBe(threadId)
      expect(second).toEqual({
        ...first,
        thread: threadId,
        instance: ref.snapshot().instance!.id,
        epoch: ref.snapshot().instance!.epoch,
      })
      expect(second.epoch).toBeGreaterThan(first.epoch)
      expect(second).toMatchObject({ agent: id, env: { X: `of ${id}` } })
      expect(second.limits.maxOldGenerationSizeMb).toBe(heapMb * HEADROOM)
      for (const env of [second.env, second.atImport]) {
        expect(env).toEqual(first.env)
        expect(JSON.stringify(env)).not.toMatch(/top secret|HOLT_API_TOKEN|LEFT/)
      }
      // It has lived since it was taken, whenever the thread began.
      const { uptimeMs } = ref.snapshot().instance!
      expect(uptimeMs).toBeLessThanOrEqual(Date.now() - ref.deaths()[0]!.at + 1)
    }
    expect(cold()).toBe(2)
    vi.unstubAllEnvs()
  })

  it('dies as any other, by its own limit, and another spare takes over, time and again', async () => {
    const host = await hostFleet(await withSpares({ agents: { a: self({}, 16) }, supervisor: NO_BUDGET }, 1))
    const a = host.agent('a')
    for (const [death, event] of ['die', 'grow', 'die', 'grow', 'die'].entries()) {
      // From the first restart on the agent is on one, and another waits.
      await eventually(() => spares().length === Math.min(death + 1, 2), 'a spare')
      a.tell(event)
      await eventually(
        () => a.deaths().length === death + 1 && a.phase === 'ACTIVE',
        () => `death ${death + 1}, ${a.phase}`,
      )
    }
    expect(a.deaths().map(({ cause }) => cause)).toEqual(['crash', 'out_of_memory', 'crash', 'out_of_memory', 'crash'])
    expect(new Set(a.deaths().map(({ epoch }) => epoch)).size).toBe(5)
    expect(cold()).toBe(1)
  })

  it('is not of a size that has none: another heap is another thread', async () => {
    const dir = await withSpares({ agents: { a: self(), b: self({}, 32) }, supervisor: NO_BUDGET }, 1)
    const host = await hostFleet(dir)
    await eventually(() => spares().length === 2, 'spares')
    await writeFile(
      `${dir}/agents/a/agent.yml`,
      JSON.stringify({ id: 'a', name: 'a', ...AT_ONCE, limits: { heapMb: 48 } }),
    )
    const a = host.agent('a')
    await a.stop()
    await a.start()
    expect(((await a.ask('self')) as Self).limits.maxOldGenerationSizeMb).toBe(48 * HEADROOM)
    expect(cold()).toBe(3)
    // From now on there is one of that size too.
    await eventually(() => spares().some(({ heapMb }) => heapMb === 48), 'a spare of the new size')
    await a.restart()
    expect(((await a.ask('self')) as Self).limits.maxOldGenerationSizeMb).toBe(48 * HEADROOM)
    expect(cold()).toBe(3)
  })
})

describe('the spares of a host', () => {
  it('are replaced when they end by themselves, and gone when the host is', async () => {
    const host = await hostFleet(await withSpares({ agents: { a: self() }, supervisor: NO_BUDGET }, 2))
    await eventually(() => spares().length === 2, 'two spares')
    await spares()[0]!.worker.terminate()
    await eventually(() => spares().length === 2, 'two again')
    expect(await host.shutdown()).toMatchObject({ killed: [], stuck: [] })
    expect(started.threads.filter(isAlive)).toEqual([])
  })

  it('keep no process alive, and an agent on one does', async () => {
    const dir = await withSpares(
      {
        agents: {
          a: {
            role: role(
              `events: { die() { throw new Error('x') }, later(ms, ctx) { setTimeout(() => { console.log('later'); ctx.stop() }, ms) } }`,
            ),
            manifest: { restart: { type: 'transient', backoff: 'none' } },
          },
        },
        supervisor: NO_BUDGET,
      },
      2,
    )
    const text = `
      const host = await createHost({ fleet: ${JSON.stringify(dir)}, log: 'silent' })
      const a = host.agent('a')
      host.output$.subscribe(({ text }) => console.log(text))
      const deaths = []
      host.deaths$.subscribe(({ cause }) => deaths.push(cause))
      process.on('exit', () => console.log(deaths.join(), a.phase))
      a.tell('die')
      while (deaths.length === 0 || a.phase !== 'ACTIVE') await new Promise((resolve) => setTimeout(resolve, 5))
      a.tell('later', 300)
      await a.ask('nothing').catch(() => {})
    `
    expect(await runProgram(text)).toEqual({ code: 0, stdout: 'later\ncrash,normal STOPPED\n', stderr: '' })
  })
})
