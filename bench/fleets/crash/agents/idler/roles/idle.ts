/** Does nothing, and is started, stopped, suspended and paused. */
import { defineRole } from 'holt/role'

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({ name: 'idle', events: { note() {} } })
