/** The other side of `send`: counts events, throws the ball back, echoes asks. The like of bench/peers/relay-worker.mjs. */
import { defineRole } from 'holt/role'

let total = 0

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'receive',
  events: {
    async add(_payload: { n: number; text: string }) {
      total++
    },
    async ball(payload: { n: number; text: string }, ctx) {
      ctx.tell('sender', 'ball', payload)
    },
  },
  commands: {
    total: { summary: 'How many events were handled', handle: () => total },
    echo: { summary: 'The input', handle: (input: unknown) => input },
  },
})
