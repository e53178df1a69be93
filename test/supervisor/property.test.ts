/**
 * Random trees, deaths, commands and waits. Once step by step, where a fleet stands after each where the model of OTP's
 * rules says; once all at a time, where some things never are, and all that is wanted comes back in the end.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { createTestHost } from '../../src/testkit/index.ts'
import { type Blow, Chaos } from './chaos.ts'
import { ModelledFleet } from './modelled-fleet.ts'
import { OtpModel } from './otp-model.ts'
import { type Act, acts, blows, fleetObject, trees } from './random-fleet.ts'

/** Both are told by fast-check where a run fails. */
const RUNS = Number(process.env['HOLT_PROPERTY_RUNS'] ?? 400)
const SEED = process.env['HOLT_PROPERTY_SEED']
const parameters = { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) }
const TIMEOUT = { timeout: 600_000 }

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holt-property-'))
  await mkdir(join(dir, 'agents/worker'), { recursive: true })
  const worker = { id: 'worker', name: 'worker', roles: ['role.js'], restart: { backoff: 'none' } }
  await writeFile(join(dir, 'agents/worker/agent.yml'), JSON.stringify(worker))
  for (const path of ['role.js', 'agents/worker/role.js']) await writeFile(join(dir, path), '')
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describe('a fleet', () => {
  it('stands where the rules say, after every step', TIMEOUT, async () => {
    const steps = fc.array(acts, { maxLength: 25 })
    const stands = async (tree: Parameters<typeof fleetObject>[0], all: readonly Act[]): Promise<void> => {
      const kit = await createTestHost({ fleet: fleetObject(tree), baseDir: dir })
      const fleet = new ModelledFleet(kit, new OtpModel(tree))
      try {
        fleet.check('at the start')
        for (const [n, step] of all.entries()) {
          await fleet.act(step)
          fleet.check(`after step ${n + 1}, ${JSON.stringify(step)}`)
        }
      } finally {
        await kit.close()
      }
      fleet.checkEnd()
    }
    await fc.assert(fc.asyncProperty(trees, steps, stands), parameters)
  })

  it('never does what it must not, whatever is done to it at once, and comes back', TIMEOUT, async () => {
    const all = fc.array(blows, { maxLength: 40 })
    const holds = async (tree: Parameters<typeof fleetObject>[0], each: readonly Blow[]): Promise<void> => {
      const chaos = await Chaos.of(tree, dir)
      try {
        for (const blow of each) await chaos.strike(blow)
        await chaos.leaveAlone()
      } finally {
        await chaos.close()
      }
      if (chaos.wrongs.length > 0) throw new Error(chaos.wrongs.join('; '))
    }
    await fc.assert(fc.asyncProperty(trees, all, holds), parameters)
  })
})
