/**
 * Finds every document and sees to it that each is read. It asks the reader, a bounded number at a time: an ask
 * settles exactly once, with a receipt or with an error, also when the reader dies over it or is restarted before its
 * turn. So `read` and `failures` always add up to what was asked for, and in the end to `found`.
 *
 * A walk goes by steps, each a message of its own: between two of them a pause, a stop or a new walk gets in.
 */
import { delimiter, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Context, defineRole } from 'holt/role'
import type { Receipt } from '../../reader/roles/read.ts'
import { listDocuments, nearestNodeModules } from '../files.ts'

/** How a walk stands; what the clerk is told after every step. */
export interface Progress {
  readonly found: number
  readonly read: number
  readonly bytes: number
  readonly failures: readonly Failure[]
  readonly elapsedMs: number
}

export interface Failure {
  readonly path: string
  readonly reason: string
}

/** Asks for a walk, unless one began after this moment (ms since the epoch). Without it, a walk in any case. */
export interface WalkRequest {
  readonly emptySince?: number
}

interface Walk {
  readonly number: number
  readonly begunAt: number
  readonly paths: readonly string[]
  next: number
  read: number
  bytes: number
  readonly failures: Failure[]
}

const FLEET = fileURLToPath(new URL('../../../', import.meta.url))
const IN_FLIGHT = 32
/** Long enough for a reader that is restarted over and over, or paused for a look; a death is told at once anyway. */
const READ_TIMEOUT_MS = 120_000

let walk: Walk | null = null

/** `LIBRARY`, else our own documents and all those that came with the dependencies. */
function library(): string[] {
  const named = (process.env['LIBRARY'] ?? '').split(delimiter).filter((folder) => folder !== '')
  if (named.length > 0) return named.map((folder) => resolve(FLEET, folder))
  const modules = nearestNodeModules(FLEET)
  return [resolve(FLEET, 'documents'), ...(modules === null ? [] : [modules])]
}

async function begin(ctx: Context): Promise<void> {
  const begunAt = Date.now()
  const paths = await listDocuments(library(), (folder, error) => {
    ctx.log.warn(`cannot read the folder ${folder}`, { error: reasonOf(error) })
  })
  walk = { number: (walk?.number ?? 0) + 1, begunAt, paths, next: 0, read: 0, bytes: 0, failures: [] }
  report(walk, ctx)
  ctx.after(0, 'step', walk.number)
}

/** Asks for the next documents, all at once, and waits for every answer: the reader sets the pace. */
async function step(current: Walk, ctx: Context): Promise<void> {
  const batch = current.paths.slice(current.next, current.next + IN_FLIGHT)
  current.next += batch.length
  await Promise.all(batch.map((path) => see(path, current, ctx)))
}

async function see(path: string, current: Walk, ctx: Context): Promise<void> {
  try {
    const receipt = await ctx.ask<Receipt>('reader', 'read', { path }, { timeoutMs: READ_TIMEOUT_MS })
    current.read += 1
    current.bytes += receipt.bytes
  } catch (error) {
    current.failures.push({ path, reason: reasonOf(error) })
  }
}

async function finish(current: Walk, ctx: Context): Promise<void> {
  const { fate } = await ctx.emit('clerk', 'walked', progressOf(current))
  if (fate !== 'handled' && fate !== 'queued') ctx.log.warn(`the clerk did not take the final report: ${fate}`)
}

/** Totals, not differences: one that is lost costs nothing, and a restarted clerk is up to date with the next. */
function report(current: Walk, ctx: Context): void {
  ctx.tell('clerk', 'progress', progressOf(current))
}

const progressOf = ({ paths, read, bytes, failures, begunAt }: Walk): Progress => ({
  found: paths.length,
  read,
  bytes,
  failures,
  elapsedMs: Date.now() - begunAt,
})

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? error.code : undefined
  return `${typeof code === 'string' ? code : error.name}: ${error.message}`
}

export default defineRole({
  name: 'walk',
  events: {
    boot: (_: unknown, ctx: Context) => begin(ctx),

    async walk(request: WalkRequest | undefined, ctx: Context) {
      const emptySince = request?.emptySince ?? Number.POSITIVE_INFINITY
      if (walk === null || walk.begunAt < emptySince) await begin(ctx)
    },

    async step(number: number, ctx: Context) {
      // A step of a walk that another has replaced.
      if (walk === null || walk.number !== number) return
      if (walk.next === walk.paths.length) return finish(walk, ctx)
      await step(walk, ctx)
      report(walk, ctx)
      ctx.after(0, 'step', number)
    },
  },
})
