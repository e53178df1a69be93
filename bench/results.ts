/**
 * What the runs have left on disk, in bench/results: each with its time stamp, and of each bench the newest full one as
 * `BENCH.json`, which is committed and which the report and the READMEs are made from. A run of few rounds, of some of
 * the variants or a quick one never takes its place.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench, Outcomes } from './definition.ts'
import type { Surroundings } from './machine.ts'

/** One run of one bench, all of its outcomes round by round. */
export interface Run {
  readonly bench: string
  /** ISO 8601, its end. */
  readonly at: string
  readonly command: string
  readonly rounds: number
  readonly quick: boolean
  readonly large: boolean
  readonly oneCpu: boolean
  readonly limitMs: number
  readonly tookMs: number
  readonly where: Surroundings
  readonly outcomes: Outcomes
}

export const RESULTS = fileURLToPath(new URL('./results/', import.meta.url))

/** Fewer say little of the spread. */
export const FULL_ROUNDS = 5

/** Whether a run has all that its bench measures; failures belong to it. */
export function isFull(run: Run, bench: Bench): boolean {
  if (run.quick || run.rounds < FULL_ROUNDS || run.oneCpu !== (bench.oneCpu === true)) return false
  return Object.keys(bench.variants).every((variant) => variant in run.outcomes)
}

/** Writes a run under its time stamp and, where it is full, as the one that is kept. */
export function writeRun(run: Run, bench: Bench, folder = RESULTS): void {
  const text = `${JSON.stringify(run, null, 1)}\n`
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${run.bench}-${run.at.replaceAll(':', '-')}.json`), text)
  if (isFull(run, bench)) writeFileSync(join(folder, `${run.bench}.json`), text)
}

/** The newest full run of that bench; undefined where there was none. */
export function readKept(name: string, folder = RESULTS): Run | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Run
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
