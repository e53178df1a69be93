/**
 * Holds the index and answers searches. The index is this module's own state: an instance that dies takes it along.
 * The next one begins with nothing, and so asks the walker to go round again.
 */
import { type Context, defineRole } from 'holt/role'
import * as z from 'zod'
import type text from '../../../capabilities/text.ts'
import type { WalkRequest } from '../../walker/roles/walk.ts'
import { Bm25Index, type Hit, type IndexedDocument, type IndexStats } from '../bm25.ts'

const Query = z.object({
  q: z.string().min(1).max(1000),
  limit: z.number().int().min(1).max(100).optional(),
})

const DEFAULT_LIMIT = 10
/** At the fleet's start the walker is the last to come up. */
const WALKER_START_MS = 1000

const index = new Bm25Index()

export default defineRole({
  name: 'search',
  needs: ['text'],
  events: {
    // At the fleet's own start the walker has begun since then, and leaves it at that.
    boot(_: unknown, ctx: Context) {
      ctx.after(WALKER_START_MS, 'refill', { emptySince: Date.now() } satisfies WalkRequest)
    },

    refill(request: WalkRequest, ctx: Context) {
      ctx.tell('walker', 'walk', request)
    },

    'document.added'(document: IndexedDocument) {
      index.add(document)
    },
  },
  commands: {
    find: {
      summary: 'The documents that fit a few words best',
      input: Query,
      async handle({ q, limit = DEFAULT_LIMIT }: z.infer<typeof Query>, ctx: Context): Promise<Hit[]> {
        const [bag] = await ctx.capability<typeof text.methods>('text').terms([q])
        return index.find(Object.keys(bag?.terms ?? {}), limit)
      },
    },

    stats: {
      summary: 'How much the index holds',
      handle: (): IndexStats => index.stats,
    },
  },
})
