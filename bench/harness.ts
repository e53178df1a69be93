/**
 * Runs the variants of a bench interleaved, each (round, variant) in a fresh process with a time limit, so that slow
 * minutes of the machine weigh on all alike and none inherits the heap or the compiled code of another. Called by
 * main.ts. It decides nothing about figures: that is arithmetic.ts and table.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { orderOfRound } from './arithmetic.ts'
import type { Bench, Outcome, Outcomes } from './definition.ts'

export interface RunOptions {
  readonly variants: readonly string[]
  readonly rounds: number
  readonly quick: boolean
  /** Also what takes minutes. */
  readonly large: boolean
  /** Pin every child to the first processor (Linux, `taskset`). */
  readonly oneCpu: boolean
  /** After this long a child is killed and its variant failed in that round. */
  readonly limitMs: number
  /** The module that runs one variant. @default child.ts */
  readonly child?: string
}

/** What one bench came to, and how long its children took together. */
export interface Timed {
  readonly outcomes: Outcomes
  readonly tookMs: number
}

/** One bench of those that run together. */
export interface Job {
  readonly bench: Bench
  readonly options: RunOptions
}

/** One variant in one round; settles with its outcome, whatever happens. */
export type RunChild = (bench: string, variant: string, round: number, options: RunOptions) => Promise<Outcome>

/** A variant that failed this often and never succeeded is not tried again. */
const GIVE_UP_AFTER = 2
const STDERR_KEPT = 16_384
/** At once where figures mean nothing: as many as the smallest machine has processors. */
const QUICK_WIDTH = 2
const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

const running = new Set<ChildProcess>()

/** A child leads a group of its own, with the servers that its variant has started: none outlives it. */
function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // None of them is left.
  }
}

process.on('exit', () => running.forEach(killGroup))

function commandOf(bench: string, variant: string, round: number, options: RunOptions): string[] {
  const node = [
    process.execPath,
    '--no-warnings',
    '--import',
    'tsx',
    options.child ?? CHILD,
    bench,
    variant,
    options.quick ? 'quick' : options.large ? 'large' : 'full',
    String(round),
  ]
  return options.oneCpu ? ['taskset', '-c', '0', ...node] : node
}

/** The line that names the error, out of a stack trace. */
function reasonIn(stderr: string, exit: string): string {
  const lines = stderr.split('\n').map((line) => line.trim())
  return lines.find((line) => /^(\w*Error\b|\[?\w*Error \[)/.test(line)) ?? lines.find((line) => line !== '') ?? exit
}

export const runChild: RunChild = (bench, variant, round, options) => {
  const [command, ...args] = commandOf(bench, variant, round, options)
  return new Promise((resolve) => {
    const child = spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], detached: true })
    let outcome: Outcome | undefined
    let stderr = ''
    let late = false
    running.add(child)
    const timer = setTimeout(() => {
      late = true
      killGroup(child)
    }, options.limitMs)
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < STDERR_KEPT) stderr += text
    })
    child.on('message', (message) => {
      outcome = message as Outcome
    })
    const settle = (exit: string): void => {
      clearTimeout(timer)
      running.delete(child)
      const failure = late ? `killed after ${options.limitMs} ms` : reasonIn(stderr, exit)
      resolve(late || outcome === undefined ? { failure } : outcome)
    }
    child.on('error', (error) => settle(error.message))
    child.on('exit', () => killGroup(child))
    child.on('close', (code, signal) => settle(`ended by ${signal ?? `exit code ${code}`} without a result`))
  })
}

const hopeless = (outcomes: readonly Outcome[]): boolean =>
  outcomes.length >= GIVE_UP_AFTER && outcomes.every((outcome) => 'failure' in outcome)

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** One after the other, every variant once a round. */
export async function runBench(
  { bench, options }: Job,
  tell: (line: string) => void,
  run: RunChild = runChild,
): Promise<Timed> {
  const outcomes: Record<string, Outcome[]> = Object.fromEntries(options.variants.map((variant) => [variant, []]))
  const begun = performance.now()
  for (let round = 0; round < options.rounds; round++) {
    for (const variant of orderOfRound(options.variants, round)) {
      const before = outcomes[variant]!
      const start = performance.now()
      const outcome = hopeless(before) ? { failure: 'not tried again' } : await run(bench.name, variant, round, options)
      before.push(outcome)
      const took = seconds(performance.now() - start)
      tell(`${bench.name} round ${round + 1}/${options.rounds} ${variant} (${took}): ${JSON.stringify(outcome)}`)
    }
  }
  return { outcomes, tookMs: performance.now() - begun }
}

/**
 * Every variant of all the benches once, two at a time, whichever comes next: for completion only, since what runs side by
 * side takes from each other.
 */
export async function runQuick(
  jobs: readonly Job[],
  tell: (line: string) => void,
  run: RunChild = runChild,
): Promise<Timed[]> {
  const timed = jobs.map(() => ({ outcomes: {} as Record<string, Outcome[]>, tookMs: 0 }))
  const pending = jobs.flatMap((job, index) => {
    // Filled in beforehand: the rows of a table stay in the order of the variants, whichever ends first.
    for (const variant of job.options.variants) timed[index]!.outcomes[variant] = []
    return job.options.variants.map((variant) => ({ ...job, variant, into: timed[index]! }))
  })
  const lane = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const { bench, variant, options, into } = next
      const start = performance.now()
      const outcome = await run(bench.name, variant, 0, options)
      const tookMs = performance.now() - start
      into.outcomes[variant]!.push(outcome)
      into.tookMs += tookMs
      tell(`${bench.name} ${variant} (${seconds(tookMs)}): ${'failure' in outcome ? outcome.failure : 'completed'}`)
    }
  }
  await Promise.all(Array.from({ length: QUICK_WIDTH }, lane))
  return timed
}
