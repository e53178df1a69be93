/**
 * One of many: counts events and notes when it has handled the last it is told to expect, on a clock that all threads of
 * a process share. The like of bench/peers/member-worker.mjs.
 */
import { defineRole } from 'holt/role'

let total = 0
let expected = 0
let endedAt = 0

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'count',
  events: {
    async expect(count: number) {
      total = 0
      expected = count
    },
    async add(_payload: { n: number; text: string }) {
      if (++total === expected) endedAt = Number(process.hrtime.bigint())
    },
  },
  commands: {
    report: { summary: 'How many were handled, and when the last', handle: () => ({ total, endedAt }) },
  },
})
