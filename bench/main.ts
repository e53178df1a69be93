/**
 * `npm run bench -- NAMES...`: runs benches, prints for each a Markdown table with the machine, the versions and the
 * command, and writes all outcomes as JSON to bench/results/. Without a name it lists the benches. Ends with 1 when a
 * variant failed, with 2 when the call was wrong; a missed target is said, and no error.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchNames, openBench } from './catalogue.ts'
import type { Bench, Outcomes } from './definition.ts'
import { type RunOptions, runBench } from './harness.ts'
import { describeSurroundings, surroundings } from './machine.ts'
import { failureLines, judge, markdownTable, verdictLine } from './table.ts'

const USAGE = `npm run bench -- NAME... [options]     (all: every bench)

  --quick         one round of few messages: shows that all variants complete, its figures mean nothing
  --rounds N      rounds, each runs every variant once in a fresh process (default 5)
  --large         also what takes minutes and gigabytes: memory of 1000 agents
  --only TEXT     only variants whose name contains TEXT, and the base
  --one-cpu       pin every process to one processor (Linux): for latency
  --limit SECONDS time limit of one variant in one round (default 120)`

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url))

class UsageError extends Error {}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const progress = (line: string): void => void process.stderr.write(`${line}\n`)

function readArguments() {
  const options = {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    'one-cpu': { type: 'boolean', default: false },
    limit: { type: 'string', default: '120' },
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
  const wanted = names.includes('all') ? benchNames : names
  const found = await Promise.all(wanted.map(openBench))
  const unknown = wanted.filter((_, index) => found[index] === undefined)
  if (unknown.length > 0)
    throw new UsageError(`No bench "${unknown.join('", "')}". There are: ${benchNames.join(', ')}`)
  return found as Bench[]
}

function report(bench: Bench, outcomes: Outcomes, heading: readonly string[]): string {
  const verdicts = bench.targets
    .filter(({ variant, against }) => variant in outcomes && against in outcomes)
    .map((target) => verdictLine(judge(target, outcomes)))
  const blocks = [`### ${bench.name}: ${bench.summary}`, heading.join('\n'), markdownTable(bench, outcomes)]
  const lists = [failureLines(outcomes), verdicts].filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return [...blocks, ...lists].join('\n\n')
}

/** @returns whether every variant succeeded in every round */
async function runAndReport(bench: Bench, given: Omit<RunOptions, 'variants'>, only: string): Promise<boolean> {
  const base = { ...given, oneCpu: given.oneCpu || bench.oneCpu === true }
  const variants = Object.keys(bench.variants).filter((name) => name.includes(only) || name === bench.base)
  const where = surroundings(bench.packages)
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`
  const outcomes = await runBench(bench, { ...base, variants }, progress)
  const run = `rounds: ${base.rounds}, each variant in a fresh process${base.oneCpu ? ', one processor' : ''}; ${command}`
  const warning = base.quick ? ['**Quick run: shows completion only, its figures mean nothing.**'] : []
  say(`${report(bench, outcomes, [describeSurroundings(where), run, ...warning])}\n`)
  mkdirSync(RESULTS, { recursive: true })
  const file = `${RESULTS}${bench.name}-${new Date().toISOString().replaceAll(':', '-')}.json`
  writeFileSync(file, `${JSON.stringify({ bench: bench.name, command, ...base, where, outcomes }, null, 1)}\n`)
  return failureLines(outcomes).length === 0
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help || positionals.length === 0) return listBenches()
  const rounds = values.quick ? 1 : Math.ceil(positive(values.rounds, 'rounds'))
  const limitMs = positive(values.limit, 'limit') * 1000
  const base = { rounds, quick: values.quick, large: values.large, oneCpu: values['one-cpu'], limitMs }
  for (const bench of await findBenches(positionals)) {
    if (!(await runAndReport(bench, base, values.only))) process.exitCode = 1
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
