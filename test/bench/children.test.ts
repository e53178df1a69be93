/** What the harness does with its children: their outcome, their end, how many at a time. No time is asserted. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Bench, Outcome } from '../../bench/definition.ts'
import { type Job, runBench, runChild, runQuick } from '../../bench/harness.ts'
import { failureLines, markdownTable } from '../../bench/table.ts'
import { eventually } from '../../src/testkit/eventually.ts'

const child = fileURLToPath(new URL('../fixtures/bench/child.mjs', import.meta.url))
const LONG_MS = 60_000

const optionsOf = (variants: readonly string[], limitMs = LONG_MS) =>
  ({ variants, rounds: 1, quick: true, large: false, oneCpu: false, limitMs, child }) as const

const benchOf = (name: string, variants: readonly string[]): Bench => ({
  name,
  summary: 'a sample',
  metrics: [{ key: 'rate', label: 'events/s', ratio: false }],
  base: variants[0]!,
  variants: {},
  targets: [],
  packages: [],
})

const jobOf = (name: string, variants: readonly string[]): Job => ({
  bench: benchOf(name, variants),
  options: optionsOf(variants),
})

const nobody = (): void => {}

describe('a child', () => {
  it('hands over its figures', async () => {
    expect(await runChild('none', 'works', 0, optionsOf([]))).toEqual({ figures: { rate: 7 } })
  })

  it('is killed at its limit, and has failed though it had sent figures', async () => {
    const outcome = await runChild('none', 'hangs', 0, optionsOf([], 1500))
    expect(outcome).toEqual({ failure: 'killed after 1500 ms' })
  })

  it('that ends without a result says how', async () => {
    const outcome = await runChild('none', 'exits', 0, optionsOf([]))
    expect(outcome).toEqual({ failure: 'ended by exit code 3 without a result' })
  })

  it('that throws says why, and takes what it has started along', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holt-bench-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'pid')
    const outcome = await runChild(file, 'leaves a server', 0, optionsOf([]))
    expect(outcome).toEqual({ failure: 'TypeError: nothing of the kind' })
    const pid = Number(readFileSync(file, 'utf8'))
    expect(pid).toBeGreaterThan(0)
    await eventually(() => !runs(pid), `the end of process ${pid}`)
  })
})

/** One that has ended and that nobody has asked after yet does not run. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('a bench whose variant fails', () => {
  it('shows the reason, and the figures of the others', async () => {
    const { outcomes } = await runBench(jobOf('none', ['works', 'exits']), nobody)
    expect(failureLines(outcomes)).toEqual(['- FAILED exits, round 1: ended by exit code 3 without a result'])
    expect(markdownTable(benchOf('none', ['works']), outcomes)).toContain('| works | 7.00 |\n| exits | failed |')
  })

  it('does not try again what has failed twice and never succeeded', async () => {
    const tried: number[] = []
    const job = jobOf('none', ['broken'])
    const run = async (_bench: string, _variant: string, round: number): Promise<Outcome> => {
      tried.push(round)
      return { failure: 'Error: no' }
    }
    const { outcomes } = await runBench({ ...job, options: { ...job.options, rounds: 5 } }, nobody, run)
    expect(tried).toEqual([0, 1])
    expect(outcomes['broken']).toHaveLength(5)
  })
})

describe('a quick run', () => {
  it('runs two variants at a time, of whichever bench, each once', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const run = (bench: string, variant: string): Promise<Outcome> => {
      begun.push(`${bench} ${variant}`)
      return new Promise((resolve) => ends.push(() => resolve({ figures: { rate: 1 } })))
    }
    const running = runQuick([jobOf('one', ['a', 'b', 'c']), jobOf('two', ['d', 'e'])], nobody, run)
    for (const [index, expected] of [2, 3, 4, 5, 5].entries()) {
      await eventually(() => begun.length === expected, `${expected} begun`)
      ends[index]!()
    }
    const [one, two] = await running
    expect(begun).toEqual(['one a', 'one b', 'one c', 'two d', 'two e'])
    expect(Object.keys(one!.outcomes)).toEqual(['a', 'b', 'c'])
    expect(Object.values(two!.outcomes).map((outcomes) => outcomes.length)).toEqual([1, 1])
  })

  it('goes on after a failure', async () => {
    const run = async (_bench: string, variant: string): Promise<Outcome> =>
      variant === 'a' ? { failure: 'Error: no' } : { figures: { rate: 1 } }
    const [one] = await runQuick([jobOf('one', ['a', 'b', 'c'])], nobody, run)
    expect(failureLines(one!.outcomes)).toEqual(['- FAILED a, round 1: Error: no'])
    expect(one!.outcomes['c']).toEqual([{ figures: { rate: 1 } }])
  })
})
