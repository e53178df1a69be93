/** Channels joined to a host: who hears what, in which order, and that bindings outlive suspend and the host. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet, role, writeFleet } from '../fleet-on-disk.ts'

const PRESS = role(`events: {
  note(n) { console.log('note ' + n) },
  async say(count, ctx) { for (let n = 1; n <= count; n++) await ctx.publish('news', 'note', n) },
}`)
const on = { role: PRESS, manifest: { channels: ['news'] } }

it('ctx.publish and host.publish reach all that are bound, in order per publisher, and no agent hears itself', async () => {
  const host = await hostFleet({ agents: { a: on, b: on, other: { role: PRESS } } })
  const heard: Record<string, string[]> = { a: [], b: [], other: [] }
  host.output$.subscribe(({ agent, text }) => heard[agent]!.push(text))
  expect(await host.agent('a').emit('say', 20)).toMatchObject({ fate: 'handled' })
  const said = Array.from({ length: 20 }, (_, n) => `note ${n + 1}`)
  await eventually(() => heard['b']!.length === 20, 'what a has published')
  expect(heard).toEqual({ a: [], b: said, other: [] })
  expect(host.publish('news', 'note', 0)).toEqual({ bound: 2, accepted: 2 })
  expect(host.publish('nobody', 'note', 0)).toEqual({ bound: 0, accepted: 0 })
  await eventually(() => heard['a']!.length === 1 && heard['b']!.length === 21, 'what the host has published')
  expect(host.detail('a').channels).toEqual(['news'])
})

it('bindings hold while an agent is suspended and over a restart of the host', async () => {
  const dir = await writeFleet({
    agents: { a: { ...on, manifest: { channels: ['news'], mailbox: { durable: true } } } },
  })
  const stateDir = await mkdtemp(join(tmpdir(), 'holt-state-'))
  onTestFinished(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }))
  const first = await hostFleet(dir, { stateDir })
  await first.agent('a').suspend()
  expect(first.publish('news', 'note', 1)).toEqual({ bound: 1, accepted: 1 })
  await first.shutdown()
  const second = await hostFleet(dir, { stateDir })
  expect(second.publish('news', 'note', 2)).toEqual({ bound: 1, accepted: 1 })
  const heard: string[] = []
  second.output$.subscribe(({ text }) => heard.push(text))
  await second.agent('a').activate()
  await eventually(() => heard.length === 2, 'what waited')
  expect(heard).toEqual(['note 1', 'note 2'])
})
