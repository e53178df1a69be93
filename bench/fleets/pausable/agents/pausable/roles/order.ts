/**
 * Counts events, dies of one that is out of turn, and notes the longest time between two: that was the pause. The like
 * of bench/peers/order-worker.mjs.
 */
import { defineRole } from 'holt/role'

let total = 0
let lastAt = process.hrtime.bigint()
let longest = { from: lastAt, to: lastAt, before: 0 }

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'order',
  events: {
    async add({ n }: { n: number; text: string }) {
      if (n !== ++total) throw new Error(`expected ${total}, got ${n}`)
      const now = process.hrtime.bigint()
      if (now - lastAt > longest.to - longest.from) longest = { from: lastAt, to: now, before: total - 1 }
      lastAt = now
    },
  },
  commands: {
    report: {
      summary:
        'How many events were handled in order, the longest time between two since the last report, and when the last was',
      handle() {
        const report = { total, longest, lastAt }
        lastAt = process.hrtime.bigint()
        longest = { from: lastAt, to: lastAt, before: total }
        return report
      },
    },
  },
})
