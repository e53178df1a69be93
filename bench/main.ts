/**
 * `npm run bench [-- NAMES...]`: runs the benches, all of them where none is named. Prints for each a Markdown table with
 * the machine, the versions and the command, writes all outcomes to bench/results and the report to bench/report.html.
 * Ends with 1 when a variant failed, with 2 when the call was wrong; a missed target is said, and no error.
 */
import { parseArgs } from 'node:util'
import { benchNames, openBench } from './catalogue.ts'
import type { Bench } from './definition.ts'
import { type Job, runBench, runQuick, type Timed } from './harness.ts'
import { surroundings } from './machine.ts'
import { sectionOf } from './report-markdown.ts'
import { FULL_ROUNDS, type Run, writeRun } from './results.ts'
import { failureLines } from './table.ts'

const USAGE = `npm run bench [-- NAME... options]     (no name: every bench)

  --list          the names of the benches and what they compare
  --quick         one round of few messages, two variants at a time: shows that all complete, its figures mean nothing
  --report        runs nothing: bench/report.html anew, from bench/results
  --readme        runs nothing: the tables of README.md and bench/README.md anew, from bench/results
  --rounds N      rounds, each runs every variant once in a fresh process (default ${FULL_ROUNDS})
  --large         also what takes minutes and gigabytes: memory of 1000 agents
  --only TEXT     only variants whose name contains TEXT, and the base
  --one-cpu       pin every process to one processor (Linux): for latency
  --limit SECONDS time limit of one variant in one round (default 120; quick 30)`

const LIMIT_S = 120
const QUICK_LIMIT_S = 30
const QUICK_WARNING =
  '**Quick run, two variants side by side: shows that all complete. Its figures mean nothing and are not shown.**'

class UsageError extends Error {}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const progress = (line: string): void => void process.stderr.write(`${line}\n`)

function readArguments() {
  const options = {
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    readme: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    rounds: { type: 'string', default: String(FULL_ROUNDS) },
    only: { type: 'string', default: '' },
    'one-cpu': { type: 'boolean', default: false },
    limit: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function positive(text: string, option: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0)
    throw new UsageError(`Expected a positive number for --${option}, got "${text}"`)
  return value
}

async function listBenches(): Promise<void> {
  say(`${USAGE}\n`)
  for (const name of benchNames) say(`${name.padEnd(10)}${(await openBench(name))?.summary}`)
}

async function findBenches(names: readonly string[]): Promise<Bench[]> {
  const wanted = names.length === 0 || names.includes('all') ? benchNames : names
  const found = await Promise.all(wanted.map(openBench))
  const unknown = wanted.filter((_, index) => found[index] === undefined)
  if (unknown.length > 0)
    throw new UsageError(`No bench "${unknown.join('", "')}". There are: ${benchNames.join(', ')}`)
  return found as Bench[]
}

function jobsOf(benches: readonly Bench[], values: ReturnType<typeof readArguments>['values']): Job[] {
  const { quick, large, only } = values
  const rounds = quick ? 1 : Math.ceil(positive(values.rounds, 'rounds'))
  const limitMs = positive(values.limit ?? String(quick ? QUICK_LIMIT_S : LIMIT_S), 'limit') * 1000
  return benches.map((bench) => {
    const variants = Object.keys(bench.variants).filter((name) => name.includes(only) || name === bench.base)
    const oneCpu = values['one-cpu'] || bench.oneCpu === true
    return { bench, options: { variants, rounds, quick, large, oneCpu, limitMs } }
  })
}

function toRun({ bench, options }: Job, { outcomes, tookMs }: Timed, where: Run['where']): Run {
  const { rounds, quick, large, oneCpu, limitMs } = options
  const command = ['npm run bench', ...process.argv.slice(2)].join(' ').replace('bench ', 'bench -- ')
  const how = { rounds, quick, large, oneCpu, limitMs, tookMs: Math.round(tookMs) }
  return { bench: bench.name, at: new Date().toISOString(), command, ...how, where, outcomes }
}

/** One bench after the other, each told and written as soon as it is through. */
async function runFully(jobs: readonly Job[]): Promise<Run[]> {
  const runs: Run[] = []
  for (const job of jobs) {
    const where = surroundings(job.bench.packages)
    const run = toRun(job, await runBench(job, progress), where)
    say(`${sectionOf(job.bench, run)}\n`)
    writeRun(run, job.bench)
    runs.push(run)
  }
  return runs
}

async function runForCompletion(jobs: readonly Job[]): Promise<Run[]> {
  say(`${QUICK_WARNING}\n`)
  const where = surroundings([])
  const runs = (await runQuick(jobs, progress)).map((timed, index) => toRun(jobs[index]!, timed, where))
  for (const { bench, outcomes } of runs) {
    const failures = failureLines(outcomes)
    const variants = `${Object.keys(outcomes).length} variants`
    say([`${bench}: ${failures.length === 0 ? `${variants} completed` : 'FAILED'}`, ...failures].join('\n'))
  }
  return runs
}

function sayTimes(runs: readonly Run[], tookMs: number): void {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(7)} s`
  say('')
  for (const run of runs) say(`${run.bench.padEnd(10)}${seconds(run.tookMs)}`)
  say(`${'total'.padEnd(10)}${seconds(tookMs)}${runs.some(({ quick }) => quick) ? ', two at a time' : ''}`)
}

/** Loaded where it is needed only: the library that draws is large. */
async function reportRuns(runs: readonly Run[]): Promise<void> {
  const { writeReport, REPORT } = await import('./report.ts')
  await writeReport(runs)
  say(`Report: ${REPORT}`)
}

async function rewriteTables(): Promise<void> {
  const { writeTables, README_FILES } = await import('./report.ts')
  await writeTables()
  say(`Tables: ${README_FILES.join(', ')}`)
}

/** From what was kept: only what was asked for. */
async function rewriteKept({ report, readme }: { report: boolean; readme: boolean }): Promise<void> {
  if (report) await reportRuns([])
  if (readme) await rewriteTables()
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help || values.list) return listBenches()
  if (values.report || values.readme) return rewriteKept(values)
  const begun = performance.now()
  const jobs = jobsOf(await findBenches(positionals), values)
  const runs = values.quick ? await runForCompletion(jobs) : await runFully(jobs)
  sayTimes(runs, performance.now() - begun)
  if (!values.quick) await reportRuns(runs)
  if (runs.some(({ outcomes }) => failureLines(outcomes).length > 0)) process.exitCode = 1
}

// The harness ends what runs when the process does.
for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const])
  process.once(signal, () => process.exit(code))

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
