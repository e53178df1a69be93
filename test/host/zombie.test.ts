/**
 * The zombie: a real thread that does not end though it was told to, given up for its successor. When it wakes it tries
 * everything an agent can do; nothing of it takes effect, and each attempt is counted.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { coldThreads, type Thread, type Threads } from '../../src/actors/spawn.ts'
import { openHost } from '../../src/host/boot.ts'
import { compileModules } from '../../src/manifest/compile.ts'
import type { Fact } from '../../src/model/fact.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { systemRandom } from '../../src/platform/random.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

/** Real threads; the first of each agent does not end, as one inside a native call, until it is let. */
class LateThreads implements Threads {
  readonly #taken = new Map<string, Thread>()
  readonly #ends: (() => Promise<unknown>)[] = []

  take(name: string, heapMb: number): Thread {
    const thread = coldThreads.take(name, heapMb)
    if (this.#taken.has(name) || name !== 'zombie') return thread
    this.#taken.set(name, thread)
    const end = thread.terminate.bind(thread)
    this.#ends.push(end)
    thread.terminate = async () => 1
    return thread
  }

  async release(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end()
  }
}

const ZOMBIE = role(
  `events: {
    async haunt(cells, ctx) {
      await ctx.memory.set('key', 'living')
      Atomics.add(cells, 1, 1)
      Atomics.wait(cells, 0, 0)
      const tries = {
        memory: () => ctx.memory.set('key', 'dead'),
        read: () => ctx.memory.get('key'),
        session: () => ctx.session('s').append('dead'),
        publish: () => ctx.publish('news', 'note', 'dead'),
        schedule: () => ctx.schedule({ id: 'late', event: 'note', everyMs: 1000 }),
        emit: () => ctx.emit('good', 'note', 'dead'),
        ask: () => ctx.ask('good', 'ping', 'dead'),
        watch: () => ctx.watch('good'),
        spawn: () => ctx.spawn('root', { agent: 'agents/good' }),
        capability: () => ctx.capability('text').shout('dead'),
      }
      for (const [name, attempt] of Object.entries(tries)) {
        let code = 'done'
        try { await attempt() } catch (error) { code = error.code }
        if (code !== 'StaleEpoch') ctx.tell('good', 'note', name + ' was ' + code)
      }
      ctx.tell('good', 'note', 'dead')
      ctx.after(0, 'note', 'dead')
    },
    note(text) { notes.push(text) },
  },
  commands: { notes: { handle: () => notes }, haunt: { handle(cells) { Atomics.add(cells, 1, 1); Atomics.wait(cells, 0, 0); return 'dead' } } }`,
  `${AT_GATE}\nconst notes: unknown[] = []`,
)
const GOOD = role(
  `events: { note(text) { notes.push(text) } }, commands: { notes: { handle: () => notes }, ping: { handle(text) { notes.push(text) } } }`,
  'const notes: unknown[] = []',
)
const TEXT = `import { defineCapability } from 'holt/capability'
export default defineCapability({ id: 'text', placement: 'host', methods: { shout: (text: string) => text.toUpperCase() } })`

async function haunted() {
  const limits = { unresponsiveAfterMs: 300, killAfterMs: 500 }
  const restart = { backoff: 'none', unkillable: 'replace' } as const
  const fleet = await writeFleet({
    agents: {
      zombie: {
        role: ZOMBIE,
        manifest: { limits, restart, channels: ['news'], capabilities: [{ id: 'text', allow: ['shout'] }] },
      },
      good: { role: GOOD, manifest: { channels: ['news'] } },
    },
    supervisor: NO_BUDGET,
    capabilities: { 'text.ts': TEXT },
  })
  const threads = new LateThreads()
  const host = await openHost(
    { fleet, log: 'silent', stateDir: ':memory:' },
    { clock: systemClock, random: systemRandom, threads, compile: compileModules },
  )
  onTestFinished(async () => {
    await threads.release()
    await host.shutdown({ timeoutMs: 2000 })
  })
  const facts: Fact[] = []
  host.facts$.subscribe((fact) => fact.agent === 'zombie' && facts.push(fact))
  await host.start()
  return { host, threads, facts, zombie: host.agent('zombie'), good: host.agent('good') }
}

describe('a zombie', () => {
  it('takes no effect by anything it tries when it wakes, and each attempt is counted', async () => {
    const { host, threads, facts, zombie, good } = await haunted()
    const gate = new Gate()
    const fate = zombie.emit('haunt', gate.cells)
    await eventually(() => gate.reached === 1, 'the zombie')
    await eventually(() => zombie.deaths().length === 1 && zombie.phase === 'ACTIVE', 'its successor')
    expect(await fate).toMatchObject({ fate: 'crashed' })
    gate.open()
    const fenced = () => host.detail('zombie').fenced
    await eventually(
      () => (fenced()['timer'] ?? 0) === 1 && fenced()['fate'] === 1,
      () => `all attempts, found ${JSON.stringify(fenced())}`,
    )
    expect(fenced()).toEqual({
      ...{ memory: 2, session: 1, publish: 1, schedule: 1, emit: 1, ask: 1, watch: 1, spawn: 1, capability: 1 },
      ...{ tell: 1, timer: 1, fate: 1 },
    })
    expect(await zombie.ask('notes')).toEqual([])
    expect(await good.ask('notes')).toEqual([])
    expect(host.detail('zombie').schedules).toEqual([])
    expect(facts.some(({ kind }) => kind === 'message.stale_epoch')).toBe(true)
    await threads.release()
    await eventually(() => facts.some(({ kind }) => kind === 'agent.unkillable_ended'), 'its end')
    expect(zombie.deaths()).toHaveLength(1)
  })

  it('cannot answer an ask', async () => {
    const { host, zombie } = await haunted()
    const gate = new Gate()
    const asked = zombie.ask('haunt', gate.cells).catch((error: { code: string }) => error.code)
    await eventually(() => gate.reached === 1, 'the zombie')
    await eventually(() => zombie.deaths().length === 1 && zombie.phase === 'ACTIVE', 'its successor')
    gate.open()
    await eventually(() => host.detail('zombie').fenced['reply'] === 1, 'its reply')
    expect(await asked).toBe('AgentDied')
  })
})
