/**
 * Runs the variants of a bench interleaved, each (round, variant) in a fresh process with a time limit, so that slow
 * minutes of the machine weigh on all alike and none inherits the heap or the compiled code of another. Called by
 * main.ts. It decides nothing about figures: that is arithmetic.ts and table.ts.
 */
import { spawn } from 'node:child_process'
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
}

/** A variant that failed this often and never succeeded is not tried again. */
const GIVE_UP_AFTER = 2
const STDERR_KEPT = 16_384
const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

function commandOf(bench: string, variant: string, round: number, options: RunOptions): string[] {
  const node = [
    process.execPath,
    '--no-warnings',
    '--import',
    'tsx',
    CHILD,
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

function runChild(bench: string, variant: string, round: number, options: RunOptions): Promise<Outcome> {
  const [command, ...args] = commandOf(bench, variant, round, options)
  return new Promise((resolve) => {
    const child = spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    let outcome: Outcome | undefined
    let stderr = ''
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, options.limitMs)
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < STDERR_KEPT) stderr += text
    })
    child.on('message', (message) => {
      outcome = message as Outcome
    })
    const settle = (exit: string): void => {
      clearTimeout(timer)
      const failure = late ? `killed after ${options.limitMs} ms` : reasonIn(stderr, exit)
      resolve(outcome ?? { failure })
    }
    child.on('error', (error) => settle(error.message))
    child.on('close', (code, signal) => settle(`ended by ${signal ?? `exit code ${code}`} without a result`))
  })
}

const hopeless = (outcomes: readonly Outcome[]): boolean =>
  outcomes.length >= GIVE_UP_AFTER && outcomes.every((outcome) => 'failure' in outcome)

export async function runBench(bench: Bench, options: RunOptions, tell: (line: string) => void): Promise<Outcomes> {
  const outcomes: Record<string, Outcome[]> = Object.fromEntries(options.variants.map((variant) => [variant, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (const variant of orderOfRound(options.variants, round)) {
      const before = outcomes[variant]!
      const outcome = hopeless(before)
        ? { failure: 'not tried again' }
        : await runChild(bench.name, variant, round, options)
      before.push(outcome)
      tell(`${bench.name} round ${round + 1}/${options.rounds} ${variant}: ${JSON.stringify(outcome)}`)
    }
  }
  return outcomes
}
