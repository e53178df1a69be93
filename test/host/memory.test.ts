/**
 * Deaths by memory: an agent that leaks is ended alone, by name, before V8 would end it or the whole process; one that
 * only makes garbage is left alone; and none is restarted for ever.
 */
import { expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { runProgram } from '../program.ts'
import { HAND } from './hand.ts'
import { expectComplete } from './thrown.ts'

const GREEDY = role(`events: { eat() { const all: object[] = []; for (;;) all.push({ a: [1, 2, 3] }) } }`)

/** `keep` adds so many entries to something that is never let go; `made` says how many have been added. */
const LEAKING = role(
  `events: { keep({ how, count }) { for (let n = 0; n < count; n++) KEEP[how](made++) } }, commands: { made: { handle: () => made } }`,
  `
let made = 0
const objects: object[] = []
const array: number[] = []
const map = new Map<number, number>()
const keys: Record<string, number> = {}
const KEEP: Record<string, (n: number) => unknown> = {
  objects: (n) => objects.push({ n: [n, n] }),
  array: (n) => array.push(n + 0.5),
  map: (n) => map.set(n, n),
  keys: (n) => (keys['key ' + n] = n),
}
`,
)

/** Holds some 38 MiB, and with every message puts other objects in the place of some of them. */
const BUSY = role(
  `events: { work(count) { for (let n = 0; n < count; n++) live[Math.floor(Math.random() * live.length)] = { n: [n, n, n] } } },
   commands: { live: { handle: () => live.length } }`,
  'const live: object[] = Array.from({ length: 330_000 }, (_, n) => ({ n: [n, n, n] }))',
)

/** Sends one after the other until it is dead. */
async function leak(ref: AgentRef, how: string, count: number): Promise<void> {
  const before = ref.deaths().length
  await eventually(() => {
    if (ref.deaths().length > before) return true
    ref.tell('keep', { how, count })
    return false
  }, 'its death')
}

it('dies of out_of_memory, with its heap in the record, and its sibling does not notice', async () => {
  const host = await hostFleet({
    agents: { greedy: { role: GREEDY, manifest: { ...AT_ONCE, limits: { heapMb: 16 } } }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const greedy = host.agent('greedy')
  const instance = host.agent('good').snapshot().instance
  greedy.tell('eat')
  await eventually(() => greedy.deaths().length === 1 && greedy.phase === 'ACTIVE', 'its death and its successor')
  expectComplete(greedy.deaths()[0]!)
  expect(greedy.deaths()[0]).toMatchObject({
    cause: 'out_of_memory',
    class: 'crash',
    error: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
    inFlight: [{ name: 'eat' }],
    decision: { action: 'restart' },
  })
  expect(await host.agent('good').ask('ping')).toBe('pong')
  expect(host.agent('good').snapshot().instance?.id).toBe(instance?.id)
})

it('one that keeps some small objects of every message is ended above the watermark, and begins anew', async () => {
  const host = await hostFleet({
    agents: { leaking: { role: LEAKING, manifest: { ...AT_ONCE, limits: { heapMb: 16 } } }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const leaking = host.agent('leaking')
  await leak(leaking, 'objects', 500)
  await eventually(() => leaking.phase === 'ACTIVE', 'its successor')
  const record = leaking.deaths()[0]!
  expectComplete(record)
  expect(record).toMatchObject({
    cause: 'out_of_memory',
    class: 'crash',
    step: 'watermark',
    error: { message: expect.stringMatching(/^its heap held \d+\.\d MiB, more than 0\.9 of 16 \(limits\.heapMb\)$/) },
    decision: { rule: 'restart_type', action: 'restart' },
  })
  expect(record.heapUsedMb).toBeGreaterThan(16 * 0.9)
  expect(await leaking.ask('made')).toBeLessThan(500 * 10)
  expect(leaking.snapshot()).toMatchObject({ status: 'Running', mailbox: { depth: 0 }, restarts: 1 })
  expect(await host.agent('good').ask('ping')).toBe('pong')
  expect(host.agent('good').deaths()).toEqual([])
})

it('C017 what grows in one piece ends its agent and not the process', async () => {
  const hows = ['array', 'map', 'keys']
  const manifest = { restart: { type: 'temporary' as const }, limits: { heapMb: 64 } }
  const agents = Object.fromEntries(hows.map((how) => [how, { role: LEAKING, manifest }]))
  const dir = await writeFleet({ agents: { ...agents, good: { role: HAND } } })
  const text = `
    const host = await createHost({ fleet: ${JSON.stringify(dir)}, log: 'silent' })
    for (const how of ${JSON.stringify(hows)}) {
      const ref = host.agent(how)
      while (ref.deaths().length === 0) {
        ref.tell('keep', { how, count: 5000 })
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      const { cause, step } = ref.deaths()[0]
      console.log(how, cause, step, await host.agent('good').ask('ping'))
    }
    await host.shutdown()
  `
  expect(await runProgram(text)).toMatchObject({
    code: 0,
    stdout: hows.map((how) => `${how} out_of_memory watermark pong\n`).join(''),
  })
})

it('one that makes much garbage is left alone, though that comes on top of what it holds', async () => {
  const host = await hostFleet({ agents: { busy: { role: BUSY, manifest: { limits: { heapMb: 64 } } } } })
  const busy = host.agent('busy')
  const end = performance.now() + 2500
  let heapMb = 0
  while (performance.now() < end) {
    await busy.emit('work', 20_000)
    heapMb = Math.max(heapMb, busy.snapshot().heapUsedMb ?? 0)
  }
  expect(busy.deaths()).toEqual([])
  expect(await busy.ask('live')).toBe(330_000)
  // Near the mark of 57.6, with garbage on top: how near depends on when V8 collects.
  expect(heapMb).toBeGreaterThan(45)
})

it('after three such deaths in ten minutes the fourth is the last, by whichever way each came', async () => {
  const both = role(
    `events: { eat() { const all: object[] = []; for (;;) all.push({ a: [1, 2, 3] }) }, keep() { for (let n = 0; n < 500; n++) kept.push({ n: [n, n] }) } }`,
    'const kept: object[] = []',
  )
  const host = await hostFleet({
    agents: { greedy: { role: both, manifest: { ...AT_ONCE, limits: { heapMb: 8 } } }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const greedy = host.agent('greedy')
  for (let death = 1; death <= 4; death++) {
    if (death % 2 === 1) greedy.tell('eat')
    else await leak(greedy, '', 0)
    const phase = death < 4 ? 'ACTIVE' : 'STOPPED'
    await eventually(
      () => greedy.deaths().length === death && greedy.phase === phase,
      () => `death ${death}, ${greedy.phase}`,
    )
  }
  expect(greedy.deaths().map(({ cause }) => cause)).toEqual(new Array(4).fill('out_of_memory'))
  expect(greedy.deaths()[1]!.step).toBe('watermark')
  expect(greedy.deaths()[3]!.decision).toMatchObject({ rule: 'restart_limit', action: 'none' })
  expect(greedy.snapshot()).toMatchObject({ status: 'Stopped', intent: 'running' })
  expect(await host.agent('good').ask('ping')).toBe('pong')
})
