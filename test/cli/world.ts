/** A world for the command without a process: what it writes is kept, and the host is played by the test. */
import type { Io } from '../../src/cli/invocation.ts'
import { run } from '../../src/cli/run.ts'
import type { Client } from '../../src/transports/client/client.ts'
import { NOW, PLAIN } from './agents.ts'

/** One call, or one stream, as the host got it. */
export interface Called {
  readonly name: string
  readonly args: readonly unknown[]
  readonly opts: Readonly<Record<string, unknown>>
}

export interface Played {
  /** What each operation answers, or throws. */
  readonly answers?: Readonly<Record<string, unknown>>
  /** The values of each stream. */
  readonly streams?: Readonly<Record<string, readonly unknown[]>>
  readonly io?: Partial<Io>
}

export interface Outcome {
  readonly exit: number
  readonly out: string
  readonly err: string
  readonly called: readonly Called[]
  readonly connected: readonly { readonly socket?: string | undefined; readonly timeoutMs: number }[]
  /** Connections closed. */
  readonly closed: number
}

const defined = (opts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(opts).filter(([, value]) => value !== undefined))

/** Runs `holt` with these words. */
export async function holt(
  words: readonly string[],
  { answers = {}, streams = {}, io = {} }: Played = {},
): Promise<Outcome> {
  const called: Called[] = []
  const connected: Outcome['connected'][number][] = []
  const out: string[] = []
  const err: string[] = []
  let closed = 0
  const client: Client = {
    async call(name, args = [], opts = {}) {
      called.push({ name, args, opts: defined(opts) })
      const answer = answers[name]
      if (answer instanceof Error) throw answer
      return answer
    },
    stream(name, args = [], opts = {}) {
      called.push({ name, args, opts: defined(opts) })
      return {
        opened: Promise.resolve(),
        close: () => {},
        async *[Symbol.asyncIterator]() {
          yield* streams[name] ?? []
        },
      }
    },
    close: () => void closed++,
  }
  const exit = await run(words, {
    out: { write: async (text) => void out.push(text) },
    err: { write: async (text) => void err.push(text) },
    outLook: PLAIN,
    errLook: PLAIN,
    cwd: '/fleet',
    stdin: () => {
      throw new Error('this command reads no standard input')
    },
    now: () => NOW,
    connect: async (options) => {
      connected.push(options)
      return client
    },
    hasEnded: async () => true,
    ...io,
  })
  return { exit, out: out.join(''), err: err.join(''), called, connected, closed }
}
