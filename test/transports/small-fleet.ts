/**
 * The fleet that operations are tried on: one agent that does as it is told, one below a supervisor of its own that may
 * call a capability, one that was never started, and one that does not boot.
 */
import { role } from '../fleet-on-disk.ts'
import { HAND } from '../host/hand.ts'

const TEXT = `
import { defineCapability } from 'holt/capability'
export default defineCapability({
  id: 'text', placement: 'host', methods: { upper: (text: string) => text.toUpperCase(), lower: (text: string) => text.toLowerCase() },
})
`

export const SMALL_FLEET = {
  agents: {
    hand: { role: HAND },
    reader: {
      role: role(
        `needs: ['text'],
        events: { note() {} },
        commands: { shout: { summary: 'in capitals', handle: (text, ctx) => ctx.capability('text').upper(text) } }`,
      ),
      manifest: { name: 'Reader', capabilities: [{ id: 'text', allow: ['upper'] }] },
    },
    sleeper: { role: HAND, manifest: { autostart: false } },
    broken: { role: role('needs: ["nothing-of-the-kind"]') },
  },
  supervisor: { id: 'root', intensity: 10_000 },
  children: [
    { agent: 'agents/hand' },
    { supervisor: { id: 'readers' }, children: [{ agent: 'agents/reader' }, { agent: 'agents/sleeper' }] },
    { agent: 'agents/broken' },
  ],
  capabilities: { 'text.ts': TEXT },
}
