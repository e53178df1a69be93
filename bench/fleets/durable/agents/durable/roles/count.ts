/**
 * Counts events and echoes asks: the least an agent can do, so that what the benches measure is the way in and out.
 * Its handlers are those of the workers in bench/peers/.
 */
import { defineRole } from 'holt/role'

let total = 0

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'count',
  events: {
    async add(_payload: { n: number; text: string }) {
      total++
    },
  },
  commands: {
    total: { summary: 'How many events were handled', handle: () => total },
    echo: { summary: 'The input', handle: (input: unknown) => input },
  },
})
