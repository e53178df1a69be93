/** The world of the command, as this process has it. What is not needed is not touched: each part costs time. */
import { systemClock } from '../platform/clock.ts'
import type { Io } from './invocation.ts'
import { type Sink, streamSink } from './output.ts'
import { lookOf } from './terminal.ts'

const LOOK_EVERY_MS = 20

export function processIo(): Io {
  const { env } = process
  return {
    out: later(() => streamSink(1)),
    err: later(() => streamSink(2)),
    get outLook() {
      return lookOf(process.stdout, env)
    },
    get errLook() {
      return lookOf(process.stderr, env)
    },
    get cwd() {
      return process.cwd()
    },
    screen: async () => {
      const { stdin: input, stdout: output } = process
      if (!input.isTTY || !output.isTTY) return undefined
      const { terminalScreen } = await import('./screen.ts')
      return terminalScreen({ input, output, signals: process, colour: lookOf(output, env).colour })
    },
    stdin: () => process.stdin,
    now: systemClock.wall,
    connect: async (options) => {
      const { connectFrom } = await import('./connect.ts')
      return connectFrom(options, process.cwd(), env)
    },
    hasEnded,
  }
}

function later(make: () => Sink): Sink {
  let sink: Sink | undefined
  return {
    write: (text) => {
      sink ??= make()
      return sink.write(text)
    },
  }
}

async function hasEnded(pid: number, withinMs: number): Promise<boolean> {
  const end = systemClock.now() + withinMs
  while (isRunning(pid)) {
    if (systemClock.now() > end) return false
    await new Promise<void>((resolve) => void systemClock.after(LOOK_EVERY_MS, resolve))
  }
  return true
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It runs as somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
