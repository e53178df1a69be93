/**
 * Real processes: started by the Node that runs the tests, with a folder for temporary files of their own, watched
 * through their output and ended when the test ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ROOT } from '../source-graph.ts'

/** The command `holt`, as built. */
export const HOLT = join(ROOT, 'dist/cli/main.js')

/** Far more than anything here takes; under it a test says what it has waited for. */
const LIMIT_MS = 90_000

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Running {
  readonly pid: number
  /** Where it puts what is temporary. */
  readonly tmp: string
  /** Once it has ended and all it wrote has arrived, also from children that shared its output. */
  readonly ended: Promise<Exit>
  stdout(): string
  stderr(): string
  /** Waits until the text is in its output. */
  says(text: string | RegExp): Promise<void>
  kill(signal: NodeJS.Signals): void
}

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A folder that goes when the test ends. */
export async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holt-e2e-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** Starts a command; `node` is the Node that runs the tests, for its children too. */
export async function start(command: string, args: readonly string[], options: StartOptions = {}): Promise<Running> {
  const tmp = await folder()
  const env = {
    ...outerEnv(),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    TMPDIR: tmp,
    XDG_STATE_HOME: await folder(),
    NO_COLOR: '1',
    // What runs the tests is not for what is tested.
    NODE_OPTIONS: '',
    ...options.env,
  }
  const child = spawn(command === 'node' ? process.execPath : command, args, { cwd: options.cwd ?? ROOT, env })
  return watched(child, tmp, `${command} ${args.join(' ')}`)
}

/** Our environment, less what an npm that runs the tests tells its scripts: it would mislead an npm that is tested. */
function outerEnv(): NodeJS.ProcessEnv {
  const ofNpm = /^(?:npm_(?:package|lifecycle)_|npm_config_(?:local|global)_prefix$|INIT_CWD$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofNpm.test(name)))
}

function watched(child: ChildProcess, tmp: string, title: string): Running {
  const { pid } = child
  if (pid === undefined) throw new Error(`${title} could not be started`)
  let stdout = ''
  let stderr = ''
  let exit: Exit | null = null
  const lookers = new Set<() => void>()
  const tellLookers = (): void => {
    for (const look of [...lookers]) look()
  }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    tellLookers()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    tellLookers()
  })
  const ended = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      exit = { code, signal }
      resolve(exit)
      tellLookers()
    })
  })
  onTestFinished(async () => {
    if (exit === null) for (const one of [pid, ...descendants(pid)]) end(one)
    await ended
  })
  const says = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const all = `${stdout}\n${stderr}`
        if (typeof text === 'string' ? all.includes(text) : text.test(all)) settle(resolve)
        else if (exit !== null) fail(`ended (${JSON.stringify(exit)}) without saying`)
      }
      const fail = (what: string): void =>
        settle(() => reject(new Error(`${title} ${what} ${text}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`)))
      const settle = (how: () => void): void => {
        clearTimeout(limit)
        lookers.delete(look)
        how()
      }
      const limit = setTimeout(() => fail('does not say'), LIMIT_MS)
      lookers.add(look)
      look()
    })
  return {
    pid,
    tmp,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    says,
  }
}

/** Runs a command to its end. */
export async function run(
  command: string,
  args: readonly string[],
  options: StartOptions = {},
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  const running = await start(command, args, options)
  const exit = await running.ended
  return { ...exit, stdout: running.stdout(), stderr: running.stderr() }
}

/** Processes below this one, all the way down. Where the platform has no /proc there is nothing to see: none. */
export function descendants(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return []
  const children = readdirSync(tasks).flatMap((task) => readChildren(`${tasks}/${task}/children`))
  return children.flatMap((child) => [child, ...descendants(child)])
}

function readChildren(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    // The thread has ended meanwhile.
    return []
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** Whether there is such a process; one that nobody has waited for yet is none. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/^\d+ \(.*\) Z/s.test(readFileSync(stat, 'utf8'))
}
