/**
 * `holt classify RUNTIME FILE|-`: the status of instances of another runtime, one line each. Reads in pieces and prints in
 * pieces: a list of any length takes no more memory than its largest document. Speaks to no host and to no network.
 */
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { HoltError } from '../model/error.ts'
import { listsOf, project, subjectOf } from '../projections/project.ts'
import { type Previous, type Projection, RUNTIMES, type Runtime, type Subject } from '../projections/projection.ts'
import { DocumentSplitter } from '../projections/split.ts'
import { EXIT } from './exit.ts'
import { countLine, projectionLines } from './format/projections.ts'
import type { Invocation, Io, Run } from './invocation.ts'

/** Lines that are laid out together. */
const BATCH = 500

export const classify: Run = async ({ args, options, io, print }) => {
  const [name = '', file = '-'] = args
  const runtime = runtimeOf(name)
  const known = await knownBefore(options, io)
  const counts = new Map<Projection['status'], number>()
  let batch: Projection[] = []
  let headed = false
  const flush = async (): Promise<void> => {
    const [lines, head] = [batch, !headed]
    if (lines.length > 0) await print(lines, (look) => projectionLines(lines, head, look))
    headed ||= lines.length > 0
    batch = []
  }
  try {
    for await (const text of documents(runtime, file, io)) {
      const projection = projectText(runtime, text, known.of)
      counts.set(projection.status, (counts.get(projection.status) ?? 0) + 1)
      if (options.json === true) await print(projection, () => [])
      else if (batch.push(projection) >= BATCH) await flush()
    }
  } finally {
    // What was read before the input turned out to be broken is told all the same.
    await flush()
  }
  if (options.json !== true) await print(null, (look) => countLine(counts, look))
  known.complainOfUnused()
  return EXIT.done
}

function runtimeOf(name: string): Runtime {
  const runtime = RUNTIMES.find((one) => one === name)
  if (runtime !== undefined) return runtime
  throw new HoltError('InvalidOption', `expected a runtime, one of ${RUNTIMES.join(', ')}, found '${name}'`, {
    next: 'see how it is written: holt classify --help',
  })
}

/** The text of each document of the file, or of standard input. */
async function* documents(runtime: Runtime, file: string, io: Io): AsyncGenerator<string> {
  const splitter = new DocumentSplitter(listsOf(runtime))
  const decoder = new TextDecoder()
  for await (const bytes of bytesOf(file, io)) yield* splitter.push(decoder.decode(bytes, { stream: true }))
  yield* splitter.push(decoder.decode())
  yield* splitter.end()
}

async function* bytesOf(file: string, io: Io): AsyncGenerator<Uint8Array> {
  if (file === '-') return yield* io.stdin()
  const path = resolve(io.cwd, file)
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Uint8Array
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new HoltError('InvalidInput', `expected a file that can be read, found ${code} at ${path}`, {}, error)
  }
}

function projectText(runtime: Runtime, text: string, of: (subject: Subject) => Previous): Projection {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    // No document, and yet an element of the list: it is told like one.
    document = text
  }
  return project(runtime, document, of(subjectOf(runtime, document)))
}

interface Known {
  readonly of: (subject: Subject) => Previous
  /** @throws HoltError `InvalidOption` for names that were given and did not come up */
  readonly complainOfUnused: () => void
}

/** What the options say of instances. */
async function knownBefore(options: Invocation['options'], io: Io): Promise<Known> {
  const latches = options.previous === undefined ? new Map<string, boolean>() : await latchesOf(options.previous, io)
  const cordoned = namesOf(options.cordoned)
  const stopping = namesOf(options.stopping)
  const named = (names: Map<string, boolean>, subject: Subject): boolean =>
    [subject.name, subject.instance].filter((name) => names.has(name)).map((name) => names.set(name, true)).length > 0
  return {
    of: (subject) => {
      const latch = latches.get(keyOf(subject))
      return {
        ...(latch === undefined ? {} : { identityVerified: latch }),
        cordoned: named(cordoned, subject),
        stopRequested: named(stopping, subject),
      }
    },
    complainOfUnused: () => {
      for (const [flag, names] of [
        ['--cordoned', cordoned],
        ['--stopping', stopping],
      ] as const)
        for (const [name, used] of names)
          if (!used) throw new HoltError('InvalidOption', `${flag}: expected the name of an instance, found '${name}'`)
    },
  }
}

const namesOf = (text = ''): Map<string, boolean> =>
  new Map(
    text
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean)
      .map((name) => [name, false]),
  )

const keyOf = ({ name, instance }: Pick<Subject, 'name' | 'instance'>): string => (instance === '' ? name : instance)

/** The latches of an earlier `--json`, by instance. */
async function latchesOf(file: string, io: Io): Promise<Map<string, boolean>> {
  const latches = new Map<string, boolean>()
  const splitter = new DocumentSplitter([])
  const decoder = new TextDecoder()
  const take = (text: string): void => {
    const line = earlier(text, file)
    if (line.axes !== undefined) latches.set(keyOf(line), line.axes.identityVerified)
  }
  for await (const bytes of bytesOf(file, io))
    for (const text of splitter.push(decoder.decode(bytes, { stream: true }))) take(text)
  for (const text of splitter.end()) take(text)
  return latches
}

interface Earlier {
  readonly name: string
  readonly instance: string
  readonly axes?: { readonly identityVerified: boolean }
}

function earlier(text: string, file: string): Earlier {
  try {
    const line = JSON.parse(text) as Earlier
    if (typeof line.name === 'string' && typeof line.instance === 'string') return line
  } catch {
    // Told below.
  }
  throw new HoltError('InvalidOption', `--previous: expected lines of an earlier \`holt classify --json\` in ${file}`)
}
