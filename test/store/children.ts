/** Starts the processes of `host-child.ts`; what still runs at the end of a test is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const SCRIPT = fileURLToPath(new URL('./host-child.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Child {
  readonly process: ChildProcess
  /** What it has said so far. */
  readonly said: readonly unknown[]
  /** Resolves with its `count`-th line, or with undefined when it ends before. */
  line(count: number): Promise<unknown>
  /** Resolves when it has ended and all it said was read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/** Whoever starts it sees to its end. */
export function spawnChild(what: string, dir: string, argument = ''): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, what, dir, argument], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const said: unknown[] = []
  const waiting: (() => void)[] = []
  const wake = (): void => {
    for (const call of waiting.splice(0)) call()
  }
  const lines = createInterface({ input: child.stdout! })
  lines.on('line', (line) => {
    said.push(JSON.parse(line))
    wake()
  })
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(([[code, signal]]) => {
    over = true
    wake()
    return { code, signal }
  })
  let over = false
  const line = async (count: number): Promise<unknown> => {
    while (said.length < count && !over) await new Promise<void>((resolve) => waiting.push(resolve))
    return said[count - 1]
  }
  return { process: child, said, line, ended }
}

export function startChild(what: string, dir: string, argument?: string): Child {
  const child = spawnChild(what, dir, argument)
  onTestFinished(async () => {
    child.process.kill('SIGKILL')
    await child.ended
  })
  return child
}

/** Runs it to its end. @returns its last line */
export async function runChild(what: string, dir: string, argument?: string): Promise<unknown> {
  const child = startChild(what, dir, argument)
  await child.ended
  return child.said.at(-1)
}
