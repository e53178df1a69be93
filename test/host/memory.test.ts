/** An agent that runs out of memory, by small objects: it dies alone, by name, and is not restarted for ever. */
import { expect, it } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { HAND } from './hand.ts'

const GREEDY = role(`events: { eat() { const all: object[] = []; for (;;) all.push({ a: [1, 2, 3] }) } }`)

it('dies of out_of_memory, with its heap in the record, and its sibling does not notice', async () => {
  const host = await hostFleet({
    agents: { greedy: { role: GREEDY, manifest: { ...AT_ONCE, limits: { heapMb: 16 } } }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const greedy = host.agent('greedy')
  const instance = host.agent('good').snapshot().instance
  greedy.tell('eat')
  await eventually(() => greedy.deaths().length === 1 && greedy.phase === 'ACTIVE', 'its death and its successor')
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

it('after three such deaths in ten minutes the fourth is the last', async () => {
  const host = await hostFleet({
    agents: { greedy: { role: GREEDY, manifest: { ...AT_ONCE, limits: { heapMb: 8 } } }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const greedy = host.agent('greedy')
  for (let death = 1; death <= 4; death++) {
    greedy.tell('eat')
    const phase = death < 4 ? 'ACTIVE' : 'STOPPED'
    await eventually(
      () => greedy.deaths().length === death && greedy.phase === phase,
      () => `death ${death}, ${greedy.phase}`,
    )
  }
  expect(greedy.deaths().map(({ cause }) => cause)).toEqual(new Array(4).fill('out_of_memory'))
  expect(greedy.deaths()[3]!.decision).toMatchObject({ rule: 'restart_limit', action: 'none' })
  expect(greedy.snapshot()).toMatchObject({ status: 'Stopped', intent: 'running' })
  expect(await host.agent('good').ask('ping')).toBe('pong')
})
