/**
 * One run of the command: reads the words, does the one command, and turns whatever happens into an exit code. Called by
 * `main.ts` with the process, by tests with a world of their own.
 */
import { ERRORS, type ErrorCode, HoltError, isErrorCode } from '../model/error.ts'
import type { HostCaller } from '../transports/client/methods.ts'
import type { CommandRow } from './command-row.ts'
import { EXIT } from './exit.ts'
import type { ConnectOptions, Invocation, Io, Options } from './invocation.ts'
import { OutputFailed, ReaderGone } from './output.ts'
import { buildProgram, HelpShown } from './program.ts'
import { ROWS } from './rows.ts'

const DEFAULT_TIMEOUT_MS = 10_000
/** What the host needs to answer that a time was up, beyond that time. */
const SLACK_MS = 5000

/** @param words what stands behind `holt` */
export async function run(words: readonly string[], io: Io): Promise<number> {
  let id = ''
  let exit: number = EXIT.done
  const act = async (row: CommandRow, args: readonly string[], options: Options): Promise<void> => {
    id = args[0] ?? ''
    exit = (await invoke(row, args, options, io)) ?? EXIT.done
  }
  try {
    await obey(words, io, act)
    return exit
  } catch (thrown) {
    if (thrown instanceof ReaderGone) return EXIT.done
    return complain(thrown, id, asksForJson(words), io)
  }
}

type Act = Parameters<typeof buildProgram>[0]

async function obey(words: readonly string[], io: Io, act: Act): Promise<void> {
  if (words[0] === 'help' && words[1] === 'exit-codes') {
    const { exitCodeLines } = await import('./format/exit-codes.ts')
    return io.out.write(`${exitCodeLines(io.outLook).join('\n')}\n`)
  }
  if (words[0] === '--version' || words[0] === '-V') {
    const { VERSION } = await import('../host/version.ts')
    return io.out.write(`${VERSION}\n`)
  }
  try {
    const asked = meant(words)
    await buildProgram(act, io.outLook, asked[0]).parseAsync(asked, { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof HelpShown)) throw thrown
    await io.out.write(thrown.text)
  }
}

/** Nothing at all, `help` and `help COMMAND` are ways to write `--help`. */
function meant(words: readonly string[]): readonly string[] {
  const [first, ...topics] = words
  if (first === undefined) return ['--help']
  if (first !== 'help') return words
  const known = topics[0] === undefined || topics[0] === 'agent' || ROWS.some(({ name }) => name === topics[0])
  return known ? [...topics, '--help'] : topics
}

async function invoke(row: CommandRow, args: readonly string[], options: Options, io: Io): Promise<number | undefined> {
  let connected: Promise<HostCaller> | undefined
  const invocation: Invocation = {
    args,
    options,
    io,
    client: () => {
      const { socket, host, token, tokenFile } = options
      connected ??= callerFrom(io, {
        socket,
        ...(host === undefined ? {} : { host }),
        ...(token === undefined ? {} : { token }),
        ...(tokenFile === undefined ? {} : { tokenFile }),
        timeoutMs: patience(row, options),
      })
      return connected
    },
    print: (value, lines) => {
      const text = options.json === true ? JSON.stringify(value ?? null) : lines(io.outLook).join('\n')
      return io.out.write(`${text}\n`)
    },
  }
  try {
    const command = await row.load()
    return await command(invocation)
  } finally {
    // A connection that could not be made has been told of already.
    const client = await connected?.catch(() => undefined)
    client?.close()
  }
}

async function callerFrom(io: Io, options: ConnectOptions): Promise<HostCaller> {
  const [client, { callerOf }] = await Promise.all([io.connect(options), import('../transports/client/methods.ts')])
  return callerOf(client, { timeoutMs: options.timeoutMs })
}

function patience({ timeoutMs = DEFAULT_TIMEOUT_MS, hostKeepsTime }: CommandRow, options: Options): number {
  if (options.timeoutMs === undefined) return timeoutMs
  return options.timeoutMs + (hostKeepsTime === true ? SLACK_MS : 0)
}

/** Whether errors are to be JSON too; also where the words could not be read. */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return (end === -1 ? words : words.slice(0, end)).includes('--json')
}

interface Complaint {
  readonly code: ErrorCode | null
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

async function complain(thrown: unknown, id: string, json: boolean, io: Io): Promise<number> {
  const complaint = complaintOf(thrown)
  const { code, message, details } = complaint
  try {
    if (json) {
      const error = { code: code ?? 'Internal', message, details }
      await io.err.write(`${JSON.stringify({ ok: false, error })}\n`)
    } else {
      const { complaintLines } = await import('./format/complaint.ts')
      const next = typeof details['next'] === 'string' ? details['next'] : undefined
      await io.err.write(`${complaintLines(complaint.code, message, id, next, io.errLook).join('\n')}\n`)
    }
  } catch {
    // There is nowhere left to say it; the exit code does.
  }
  if (thrown instanceof OutputFailed) return EXIT.output
  // A newer host may have codes that this table does not.
  return isErrorCode(code) ? ERRORS[code].exit : EXIT.unforeseen
}

function complaintOf(thrown: unknown): Complaint {
  if (thrown instanceof HoltError) return thrown
  return { code: null, message: thrown instanceof Error ? thrown.message : String(thrown), details: {} }
}
