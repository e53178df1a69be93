/** Dies when it is told to, in three ways, and echoes asks; the like of bench/peers/mortal-worker.mjs. */
import { defineRole } from 'holt/role'

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'die',
  events: {
    die() {
      throw new Error('die')
    },
    exit() {
      process.exit(3)
    },
    end(_: unknown, ctx) {
      ctx.stop()
    },
  },
  commands: { echo: { handle: (n: number) => n } },
})
