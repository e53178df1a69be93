/** Death watch: exactly one `down` a watch, after all that the dead one had sent, wherever the watcher is by then. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { Down } from '../../src/model/message.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

/** Watches and dies as it is told, and keeps what it was told in order. */
const PEER = role(
  `events: {
    down(down, ctx) {
      seen.push('down ' + down.agent)
      downs.push({ agent: down.agent, instance: down.instance, cause: down.record?.cause ?? null, deathId: down.record?.id ?? null })
      if (again) return ctx.watch(down.agent).then(() => { watched++ })
    },
    note(n) { seen.push(n) },
    tellAndDie({ to, count }, ctx) { for (let n = 0; n < count; n++) ctx.tell(to, 'note', n); throw new Error('told all') },
    tellAndExit({ to, count }, ctx) { for (let n = 0; n < count; n++) ctx.tell(to, 'note', n); process.exit(0) },
    emitAndDie({ to, count }, ctx) { for (let n = 0; n < count; n++) void ctx.emit(to, 'note', n); throw new Error('emitted all') },
    hold(cells) { return wait(cells) },
    die(text) { throw new Error(text) },
    end(_, ctx) { ctx.stop() },
  },
  commands: {
    watch: { async handle(id, ctx) { await ctx.watch(id); watched++ } },
    watchTwice: { async handle(id, ctx) { await Promise.all([ctx.watch(id), ctx.watch(id)]) } },
    watchAgain: { async handle(id, ctx) { again = true; await ctx.watch(id); watched++ } },
    unwatch: { async handle(id, ctx) { await ctx.unwatch(id) } },
    refused: { handle: (id, ctx) => ctx.watch(id).then(() => null, (e: any) => ({ code: e.code, message: e.message })) },
    downs: { handle: () => downs },
    seen: { handle: () => seen },
    watched: { handle: () => watched },
  }`,
  `${AT_GATE}\nconst downs: unknown[] = []\nconst seen: unknown[] = []\nlet again = false\nlet watched = 0`,
)

type Told = Pick<Down, 'agent' | 'instance'> & { readonly cause: string | null; readonly deathId: string | null }

async function peers(
  manifest: Partial<AgentObject> = {},
  mortal: Partial<AgentObject> = AT_ONCE,
): Promise<{
  host: Host
  watcher: AgentRef
  mortal: AgentRef
}> {
  const host = await hostFleet({
    agents: { watcher: { role: PEER, manifest }, mortal: { role: PEER, manifest: mortal } },
    supervisor: NO_BUDGET,
  })
  return { host, watcher: host.agent('watcher'), mortal: host.agent('mortal') }
}

const downsOf = (ref: AgentRef) => ref.ask('downs') as Promise<Told[]>

const told = (ref: AgentRef, count: number): Promise<Told[]> =>
  eventually(
    async () => {
      const downs = await downsOf(ref)
      return downs.length >= count && downs
    },
    () => `${count} notices`,
  )

/** It dies once more, and what comes next is up. */
async function dies(ref: AgentRef, work: () => unknown): Promise<void> {
  const before = ref.deaths().length
  await work()
  await eventually(() => ref.deaths().length > before && ref.phase === 'ACTIVE', 'its successor')
}

/** What the death was, as a watcher is told. */
const asTold = (ref: AgentRef, death = -1): Told => {
  const { agent, instance, cause, id } = ref.deaths().at(death)!
  return { agent, instance, cause, deathId: id }
}

const ONCE = { restart: { type: 'temporary' } } as const

describe('a watch', () => {
  it.each(['die', 'end', 'kill', 'restart', 'stop'] as const)('is answered once, by whichever end: %s', async (way) => {
    const { watcher, mortal } = await peers()
    await watcher.ask('watch', 'mortal')
    if (way === 'die' || way === 'end') mortal.tell(way, 'by request')
    else await mortal[way]()
    expect(await told(watcher, 1)).toEqual([asTold(mortal)])
    if (way === 'stop') await mortal.start()
    await eventually(() => mortal.phase === 'ACTIVE', 'the successor')
    // It was for one death.
    await dies(mortal, () => mortal.kill())
    expect(await downsOf(watcher)).toHaveLength(1)
  })

  it('two watches are answered twice', async () => {
    const { watcher, mortal } = await peers()
    await watcher.ask('watchTwice', 'mortal')
    await dies(mortal, () => mortal.tell('die', 'x'))
    expect(await told(watcher, 2)).toEqual([asTold(mortal), asTold(mortal)])
    await dies(mortal, () => mortal.kill())
    expect(await downsOf(watcher)).toHaveLength(2)
  })

  it('comes back at once where the agent is dead already, by its last record, or was never started', async () => {
    const { watcher, mortal } = await peers({}, { autostart: false })
    await watcher.ask('watch', 'mortal')
    expect(await told(watcher, 1)).toEqual([{ agent: 'mortal', instance: null, cause: null, deathId: null }])
    await mortal.start()
    await mortal.stop()
    await watcher.ask('watch', 'mortal')
    expect(await told(watcher, 2)).toEqual([expect.anything(), asTold(mortal)])
  })

  it('of a death that this instance has been told of waits for the next', async () => {
    const { watcher, mortal } = await peers({}, ONCE)
    await watcher.ask('watch', 'mortal')
    mortal.tell('die', 'first')
    await told(watcher, 1)
    await watcher.ask('watch', 'mortal')
    expect(await downsOf(watcher)).toHaveLength(1)
    await mortal.start()
    mortal.tell('die', 'second')
    expect(await told(watcher, 2)).toEqual([asTold(mortal, 0), asTold(mortal, 1)])
  })

  it('of a boot that fails is answered with the record that names the step', async () => {
    const host = await hostFleet({
      agents: { watcher: { role: PEER }, bad: { role: role('', `throw new Error('not today')`), manifest: ONCE } },
    })
    await host.agent('watcher').ask('watch', 'bad')
    expect(await told(host.agent('watcher'), 1)).toEqual([asTold(host.agent('bad'))])
    expect(asTold(host.agent('bad')).cause).toBe('boot_failed')
  })

  it('of oneself is answered to nobody', async () => {
    const { watcher } = await peers(AT_ONCE)
    await watcher.ask('watch', 'watcher')
    await dies(watcher, () => watcher.tell('die', 'x'))
    expect(await downsOf(watcher)).toEqual([])
  })

  it('of nobody is refused, with the nearest', async () => {
    const { watcher } = await peers()
    expect(await watcher.ask('refused', 'mortel')).toMatchObject({
      code: 'NoSuchAgent',
      message: expect.stringContaining(`Did you mean 'mortal'?`),
    })
    for (const id of ['__proto__', 'constructor', ''])
      expect(await watcher.ask('refused', id)).toMatchObject({ code: 'NoSuchAgent' })
  })

  it('taken back is not answered, and one of somebody else is', async () => {
    const host = await hostFleet({
      agents: { one: { role: PEER }, two: { role: PEER }, mortal: { role: PEER, manifest: AT_ONCE } },
      supervisor: NO_BUDGET,
    })
    const [one, two, mortal] = host.agents() as [AgentRef, AgentRef, AgentRef]
    await one.ask('watchTwice', 'mortal')
    await two.ask('watch', 'mortal')
    await one.ask('unwatch', 'mortal')
    await one.ask('unwatch', 'mortal')
    await dies(mortal, () => mortal.kill())
    expect(await told(two, 1)).toEqual([asTold(mortal)])
    expect(await downsOf(one)).toEqual([])
    await one.ask('watch', 'mortal')
    await dies(mortal, () => mortal.kill())
    expect(await told(one, 1)).toEqual([asTold(mortal)])
  })

  it('ends with the instance that asked for it', async () => {
    const { watcher, mortal } = await peers(AT_ONCE)
    await watcher.ask('watch', 'mortal')
    await dies(watcher, () => watcher.tell('die', 'x'))
    await dies(mortal, () => mortal.kill())
    expect(await downsOf(watcher)).toEqual([])
    await watcher.ask('watch', 'mortal')
    await dies(mortal, () => mortal.kill())
    expect(await told(watcher, 1)).toEqual([asTold(mortal)])
  })

  it('C047 thirty kills with restarts at once: thirty notices of thirty instances to one that watches again at each', async () => {
    const { watcher, mortal } = await peers()
    await watcher.ask('watchAgain', 'mortal')
    const instances: string[] = []
    for (let n = 1; n <= 30; n++) {
      instances.push(mortal.snapshot().instance!.id)
      await dies(mortal, () => mortal.kill())
      await eventually(async () => (await watcher.ask('watched')) === n + 1, 'it watches again')
    }
    const downs = await downsOf(watcher)
    expect(downs.map(({ instance }) => instance)).toEqual(instances)
    expect(new Set(downs.map(({ deathId }) => deathId)).size).toBe(30)
  })
})

describe('a notice', () => {
  it.each(['tellAndDie', 'tellAndExit'])('comes after all that the dead one had posted: %s', async (way) => {
    const { watcher, mortal } = await peers()
    for (let round = 1; round <= 5; round++) {
      await watcher.ask('watch', 'mortal')
      await dies(mortal, () => mortal.tell(way, { to: 'watcher', count: 1000 }))
      await told(watcher, round)
    }
    const numbers = Array.from({ length: 1000 }, (_, n) => n)
    expect(await watcher.ask('seen')).toEqual(Array.from({ length: 5 }, () => [...numbers, 'down mortal']).flat())
  })

  it('comes after events that wait for room, too', async () => {
    const { watcher, mortal } = await peers({ mailbox: { window: 16, backlog: 16 } })
    await watcher.ask('watch', 'mortal')
    const gate = new Gate()
    watcher.tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'the gate')
    await dies(mortal, () => mortal.tell('emitAndDie', { to: 'watcher', count: 200 }))
    gate.open()
    await told(watcher, 1)
    expect(await watcher.ask('seen')).toEqual([...Array.from({ length: 200 }, (_, n) => n), 'down mortal'])
  })

  it.each(['drop-newest', 'drop-oldest', 'reject'] as const)(
    'goes past pause and capacity, and is not what is dropped for others: %s',
    async (overflow) => {
      const { watcher, mortal } = await peers({ mailbox: { capacity: 10, overflow } })
      await watcher.ask('watch', 'mortal')
      await watcher.pause()
      for (let n = 0; n < 5; n++) watcher.tell('note', n)
      await dies(mortal, () => mortal.kill())
      for (let n = 5; n < 30; n++) watcher.tell('note', n)
      const kept = overflow === 'drop-oldest' ? 20 : 0
      await watcher.resume()
      expect(await told(watcher, 1)).toEqual([asTold(mortal)])
      const seen = (await watcher.ask('seen')) as unknown[]
      expect(seen.filter((one) => one !== 'down mortal')).toEqual(Array.from({ length: 10 }, (_, n) => kept + n))
      expect(watcher.snapshot().mailbox).toMatchObject({ depth: 0, dropped: overflow === 'reject' ? 0 : 20 })
    },
  )

  it('to a full mailbox of a watcher that is behind is not lost', async () => {
    const { watcher, mortal } = await peers({ mailbox: { window: 16, backlog: 16 } })
    await watcher.ask('watch', 'mortal')
    const gate = new Gate()
    watcher.tell('hold', gate.cells)
    let accepted = 0
    while (watcher.tell('note', accepted)) accepted++
    await dies(mortal, () => mortal.kill())
    gate.open()
    await told(watcher, 1)
    expect(await watcher.ask('seen')).toEqual([...Array.from({ length: accepted }, (_, n) => n), 'down mortal'])
  })

  it('that no role handles is a dead letter, and ends nobody', async () => {
    const deaf = role(`commands: { watch: { async handle(id, ctx) { await ctx.watch(id) } } }`)
    const host = await hostFleet({
      agents: { deaf: { role: deaf }, mortal: { role: PEER, manifest: AT_ONCE } },
      supervisor: NO_BUDGET,
    })
    await host.agent('deaf').ask('watch', 'mortal')
    await dies(host.agent('mortal'), () => host.agent('mortal').kill())
    await eventually(() => host.agent('deaf').deadLetters().length === 1, 'the letter')
    expect(host.agent('deaf').deadLetters()).toMatchObject([{ name: 'down', reason: 'no_handler' }])
    expect(host.agent('deaf').deaths()).toEqual([])
  })
})
