/**
 * Looking into one agent: a CPU profile or a heap snapshot of its thread, written to a file of the host's machine for its
 * owner alone. Bounded in time: a thread that does not turn is told of, not waited for. One at a time an agent.
 */
import { type FileHandle, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import type { Inspection } from '../actors/inspection.ts'
import { describeError, HoltError } from '../model/error.ts'
import type { Clock } from '../platform/clock.ts'
import { MEMORY } from '../store/database.ts'
import type { HostIdentity } from './host.ts'

export const DEFAULT_CPU_MS = 5000
export const MAX_CPU_MS = 60_000

export interface InspectOptions {
  /** How long the profile is, ms, from 1 to 60000. @default 5000 */
  readonly cpu?: number | undefined
  /** A heap snapshot in place of a CPU profile. @default false */
  readonly heap?: boolean | undefined
  /** Absolute path of a file that does not exist yet. @default a name of its own in the state directory's folder `inspect` */
  readonly out?: string | undefined
}

export interface Inspected {
  readonly agent: string
  readonly instance: string
  readonly kind: 'cpu' | 'heap'
  readonly path: string
  readonly bytes: number
}

export interface InspectParts {
  readonly directory: Directory
  readonly clock: Clock
  readonly identity: HostIdentity
}

/** A thread that turns answers within this. */
const ANSWER_MS = 10_000
/** A snapshot of the largest heaps takes a few seconds. */
const SNAPSHOT_MS = 60_000
const ENDING = { cpu: 'cpuprofile', heap: 'heapsnapshot' } as const

export class Inspections {
  readonly #parts: InspectParts
  readonly #busy = new Set<string>()

  constructor(parts: InspectParts) {
    this.#parts = parts
  }

  /**
   * @throws HoltError `NoSuchAgent`; `InvalidCommand` where it does not run; `CommandBusy`; `InvalidOption` for the file;
   * `Timeout` where its thread does not answer; `AgentDied`
   */
  async inspect(id: string, options: InspectOptions = {}): Promise<Inspected> {
    const agent = this.#parts.directory.get(id)
    const { instance } = agent
    if (instance?.alive !== true)
      throw new HoltError('InvalidCommand', `agent '${id}' has no thread to look into: ${agent.whereabouts()}`)
    if (this.#busy.has(id)) throw new HoltError('CommandBusy', `agent '${id}' is being looked into already`)
    const kind = options.heap === true ? 'heap' : 'cpu'
    this.#busy.add(id)
    try {
      const path = options.out ?? (await this.#place(agent, kind))
      const bytes = await written(path, (file) =>
        kind === 'heap'
          ? this.#heap(id, instance.inspection, file)
          : this.#cpu(id, instance.inspection, options.cpu ?? DEFAULT_CPU_MS, file),
      )
      return { agent: id, instance: instance.id, kind, path, bytes }
    } finally {
      this.#busy.delete(id)
    }
  }

  async #cpu(id: string, inspection: Inspection, ms: number, file: FileHandle): Promise<void> {
    await this.#within(inspection.profile(true), ANSWER_MS, id)
    await new Promise<void>((resolve) => this.#parts.clock.after(ms, resolve))
    await file.writeFile(await this.#within(inspection.profile(false), ANSWER_MS, id))
  }

  async #heap(id: string, inspection: Inspection, file: FileHandle): Promise<void> {
    const taken = inspection.heap()
    const snapshot = await this.#within(taken, SNAPSHOT_MS, id).catch((error: unknown) => {
      // One that comes after all is let go.
      taken.then((late) => late.destroy()).catch(() => {})
      throw error
    })
    await writeFile(file, snapshot)
  }

  #within<T>(work: Promise<T>, ms: number, id: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.#parts.clock.after(ms, () => {
        const text = `the thread of agent '${id}' did not answer within ${ms} ms: it is busy, or inside a native call`
        reject(new HoltError('Timeout', text, { agent: id, timeoutMs: ms }))
      })
      work.then(resolve, reject).finally(() => timer.cancel())
    })
  }

  async #place({ id }: Agent, kind: 'cpu' | 'heap'): Promise<string> {
    const { identity, clock } = this.#parts
    if (identity.stateDir === MEMORY)
      throw new HoltError(
        'InvalidOption',
        'out: expected a path, since the state of this host is in memory; found nothing',
      )
    const dir = join(identity.stateDir, 'inspect')
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const time = new Date(clock.wall()).toISOString().replaceAll(/[:.]/g, '-')
    return join(dir, `${id}-${time}.${ENDING[kind]}`)
  }
}

/** A new file for its owner alone; it goes where it was not written whole. How large it is. */
async function written(path: string, write: (file: FileHandle) => Promise<void>): Promise<number> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const { code, message } = describeError(error)
    const found = code === 'EEXIST' ? `a file at ${path}` : message
    throw new HoltError('InvalidOption', `out: expected a path where a file can be made, found ${found}`, { path })
  })
  try {
    await write(file)
    return (await file.stat()).size
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
