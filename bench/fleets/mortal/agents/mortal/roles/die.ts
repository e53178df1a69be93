/** Dies when it is told to, and echoes asks; the like of bench/peers/mortal-worker.mjs. */
import { defineRole } from 'holt/role'

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'die',
  events: {
    die() {
      throw new Error('die')
    },
  },
  commands: { echo: { handle: (n: number) => n } },
})
