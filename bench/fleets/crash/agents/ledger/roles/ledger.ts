/** Writes down every event it is sent, once: what the crash test reads back. */
import { defineRole } from 'holt/role'

interface Entry {
  readonly sender: string
  readonly n: number
}

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'ledger',
  events: {
    async add(entry: Entry, ctx) {
      const written = ctx.session('log').append(entry)
      // One in three is a checkpoint of its own; the others are committed with the end of the message.
      if (entry.n % 3 === 0) await written
      const count = ((await ctx.memory.get<number>('count')) ?? 0) + 1
      void ctx.memory.set('count', count)
    },
  },
  commands: {
    page: {
      handle: (from: number, ctx) => ctx.session('log').page({ from, limit: 1000 }),
    },
    count: { handle: (_: undefined, ctx) => ctx.memory.get<number>('count') },
  },
})
