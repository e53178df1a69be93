/** Random trees, deaths, commands and waits: after every step a fleet stands where the model of OTP's rules says. */
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createTestHost } from '../../src/testkit/index.ts'
import { ModelledFleet } from './modelled-fleet.ts'
import { OtpModel } from './otp-model.ts'
import { type Act, acts, fleetObject, trees } from './random-fleet.ts'

const RUNS = Number(process.env['HOLT_PROPERTY_RUNS'] ?? 150)
const SEED = process.env['HOLT_PROPERTY_SEED']

describe('a fleet', () => {
  it('stands where the rules say, after every step', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.array(acts, { maxLength: 25 }), async (tree, steps: Act[]) => {
        const kit = await createTestHost({ fleet: fleetObject(tree) })
        const fleet = new ModelledFleet(kit, new OtpModel(tree))
        try {
          await fleet.check('at the start')
          for (const [n, step] of steps.entries()) {
            await fleet.act(step)
            await fleet.check(`after step ${n + 1}, ${JSON.stringify(step)}`)
          }
        } finally {
          await kit.close()
        }
        fleet.checkEnd()
      }),
      { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }), verbose: 0, endOnFailure: false },
    )
  })
})
