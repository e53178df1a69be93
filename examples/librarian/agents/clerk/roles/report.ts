/**
 * Says how the walk goes, at most once a second, and at its end what came of it. It keeps nothing but the walker's last
 * word, so it may miss some, or be restarted, and the next report is right again.
 */
import { relative } from 'node:path'
import { type Context, defineRole } from 'holt/role'
import type { Hit, IndexStats } from '../../librarian/bm25.ts'
import type { Progress } from '../../walker/roles/walk.ts'

const PERIOD_MS = 1000
const SAMPLES = ['backpressure', 'worker thread', 'parse yaml']
const TOP = 3

let latest: Progress | null = null
let ticking = false

const count = (n: number): string => n.toLocaleString('en')
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const shown = (path: string): string => relative(process.cwd(), path)
const perSecond = ({ read, failures, elapsedMs }: Progress): string =>
  count(Math.round(((read + failures.length) * 1000) / Math.max(elapsedMs, 1)))

function progressLine(at: Progress): string {
  return `read ${count(at.read)} of ${count(at.found)}, ${at.failures.length} failed, ${perSecond(at)} a second`
}

function* finalLines(at: Progress): Generator<string> {
  const seconds = (at.elapsedMs / 1000).toFixed(1)
  yield `${count(at.found)} documents found: ${count(at.read)} read (${megabytes(at.bytes)}), ` +
    `${at.failures.length} failed, in ${seconds} s (${perSecond(at)} a second)`
  for (const { path, reason } of at.failures) yield `  failed  ${shown(path)}  ${reason}`
}

async function* indexLines(ctx: Context): AsyncGenerator<string> {
  const { documents, terms, postings } = await ctx.ask<IndexStats>('librarian', 'stats')
  yield `the index holds ${count(documents)} documents, ${count(terms)} terms, ${count(postings)} postings`
  for (const q of SAMPLES) {
    yield `find "${q}"`
    for (const { score, title, path } of await ctx.ask<Hit[]>('librarian', 'find', { q, limit: TOP })) {
      yield `  ${score.toFixed(2).padStart(6)}  ${title}  (${shown(path)})`
    }
  }
  yield `ready: ask with host.agent('librarian').ask('find', { q: 'worker thread' })`
}

export default defineRole({
  name: 'report',
  events: {
    progress(progress: Progress, ctx: Context) {
      latest = progress
      if (ticking) return
      ticking = true
      ctx.after(PERIOD_MS, 'tick')
    },

    tick() {
      ticking = false
      if (latest !== null) console.log(progressLine(latest))
    },

    async walked(progress: Progress, ctx: Context) {
      // The final report says it all; a tick that is still to come says nothing.
      latest = null
      for (const line of finalLines(progress)) console.log(line)
      try {
        for await (const line of indexLines(ctx)) console.log(line)
      } catch (error) {
        console.log(`the librarian does not answer: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
  },
})
