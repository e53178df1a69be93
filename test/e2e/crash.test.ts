/** The crash test in small: a host that is killed at random instants loses nothing it has answered for. */
import { describe, expect, it } from 'vitest'
import { start } from './processes.ts'

/** Rounds; each starts a host twice. The whole test has 200: `npm run crash-test`. */
const ROUNDS = process.env['HOLT_CRASH_ROUNDS'] ?? '20'

describe('a host that is killed with -9', () => {
  it(`keeps what it has answered, over ${ROUNDS} rounds`, async () => {
    const seed = String(Date.now() % 2 ** 31)
    const run = await start('node', ['--import', 'tsx', 'bench/crash-test.ts', ROUNDS, seed])
    const { code } = await run.ended
    expect(code, `${run.stdout()}\n${run.stderr()}`).toBe(0)
    expect(run.stdout()).toContain('0 with faults')
  }, 900_000)
})
