/** What a reload has come to, a line for each agent. */
import type { FleetReload } from '../../model/reload.ts'
import { clean, type Look, wrap } from './text.ts'

export function reloadLines(agents: FleetReload['agents'], dryRun: boolean, look: Look): string[] {
  if (agents.length === 0) return ['no agent runs: there is nothing to replace']
  return agents.flatMap(({ id, from, to, changed, replaced }) => {
    const version = from === to ? from : `${from} to ${to}`
    const differs = `${version}, ${changed.join(', ')}`
    const text =
      changed.length === 0
        ? 'nothing has changed'
        : replaced
          ? `replaced (${differs})`
          : dryRun
            ? `would be replaced (${differs})`
            : `not replaced (${differs})`
    return wrap(clean(`${id}: ${text}`), look.width, '  ', '')
  })
}
