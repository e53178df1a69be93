import { describe, expect, it } from 'vitest'
import { openHost } from '../../src/host/boot.ts'
import type { HostOptions } from '../../src/host/options.ts'

const agents = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ agent: { id: `a${n}`, name: 'A', roles: ['count.ts'] } }))
const baseDir = new URL('../fixtures/fleets/deadly/agents/counter/roles/', import.meta.url).pathname

describe('options of a host', () => {
  it.each<[string, Partial<Record<keyof HostOptions, unknown>>, string]>([
    ['a stateDir that is none', { stateDir: '' }, "stateDir: expected a folder, or ':memory:', found ''"],
    [
      'a level that is none',
      { log: 'loud' },
      "log: expected a pino logger or one of debug, info, warn, error, silent, found 'loud'",
    ],
    ['a fleet that is a number', { fleet: 7 }, 'fleet: expected a folder or a fleet object, found 7'],
    [
      'a deadline of NaN',
      { shutdownTimeoutMs: Number.NaN },
      'shutdownTimeoutMs: expected a number from 0 to 2147483647, found NaN',
    ],
    ['half an agent', { maxAgents: 0.5 }, 'maxAgents: expected a whole number from 1, found 0.5'],
    ['less than nothing left free', { minFreeMb: -1 }, 'minFreeMb: expected a whole number from 0, found -1'],
  ])('refuses %s, saying what was expected and found', async (_, option, message) => {
    const options = { fleet: { children: agents(1) }, baseDir, ...option } as HostOptions
    await expect(openHost(options)).rejects.toMatchObject({ code: 'InvalidOption', message })
  })

  it('refuses a fleet with more agents than it may start, before anything is started', async () => {
    const fleet = { children: agents(4) }
    await expect(openHost({ fleet, baseDir, maxAgents: 3 })).rejects.toMatchObject({
      code: 'InvalidManifest',
      details: { found: 4, maxAgents: 3 },
    })
    const host = await openHost({ fleet, baseDir, maxAgents: 4 })
    await host.shutdown()
  })

  it('takes what holt.yml says, where it is not told otherwise itself', async () => {
    const fleet = { children: agents(4), maxAgents: 3 }
    await expect(openHost({ fleet, baseDir })).rejects.toMatchObject({ details: { found: 4, maxAgents: 3 } })
    const host = await openHost({ fleet, baseDir, maxAgents: 4 })
    await host.shutdown()
  })
})
