/** Notes in shared memory when it handles an event: what the bench `reload` reads, over all versions of this file. */
import { defineRole } from 'holt/role'

interface Event {
  readonly n: number
  /** When the last one was handled, the longest gap, how many, the number expected next, how many came out of turn. */
  readonly cells: Float64Array
}

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'roll',
  events: {
    note({ n, cells }: Event) {
      const now = performance.timeOrigin + performance.now()
      cells[1] = Math.max(cells[1]!, now - cells[0]!)
      cells[0] = now
      cells[2]!++
      if (n !== cells[3]) cells[4]!++
      cells[3] = n + 1
    },
  },
  commands: { done: { handle: () => true } },
})
