/**
 * A process that writes is killed with -9 at random moments, again and again on the same state; whatever it had been
 * answered is there, whole and in order. `HOLT_STORE_SEED` repeats a run, `HOLT_STORE_ROUNDS` says how many lives (5).
 */
import { cpSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startChild } from './children.ts'
import { type Answer, findBroken, randomBySeed } from './random-writes.ts'
import { tempState, tempStore } from './temp-store.ts'

const SEED = Number(process.env['HOLT_STORE_SEED'] ?? Date.now() % 1_000_000)
const ROUNDS = Number(process.env['HOLT_STORE_ROUNDS'] ?? 5)

it(
  'C130: what was answered before a kill -9 is on disk, life after life, and epochs only grow',
  async () => {
    console.log(`store: crash seed ${SEED}, ${ROUNDS} rounds (HOLT_STORE_SEED, HOLT_STORE_ROUNDS)`)
    const random = randomBySeed(SEED)
    const dir = tempState()
    const answers: Answer[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const child = startChild('write', dir, String(round))
      await child.line(1 + Math.floor(random() * 600))
      child.process.kill('SIGKILL')
      expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
      answers.push(...(child.said as Answer[]))
      // Every other life begins from what the kill left; the check is made on a copy then.
      const looked = round % 2 === 0 ? dir : tempState()
      if (looked !== dir) cpSync(dir, looked, { recursive: true })
      const store = await tempStore({ dir: looked })
      expect({ round, broken: findBroken(store, answers) }).toEqual({ round, broken: [] })
      expect(store.afterCrash).toBe(true)
      await store.close()
    }
    expect(answers.length).toBeGreaterThan(ROUNDS)
  },
  60_000 + ROUNDS * 10_000,
)
