/** What may be asked of an agent, and what the host lends: `holt commands`, `holt capabilities`. */
import type { CapabilityView } from '../../model/view.ts'
import type { CommandInfo } from '../../model/wire.ts'
import { paint } from './colour.ts'
import { schemaText } from './schema.ts'
import { clean, cut, type Look, wrap } from './text.ts'

/** A name in a line of its own, what it is below. */
export function commandLines(commands: readonly CommandInfo[], look: Look): string[] {
  if (commands.length === 0) return ['no commands: it takes events alone, or has not been up yet']
  return commands.flatMap(({ name, role, summary, exclusive, inputSchema }) => [
    paint(cut(clean(`${name}  (${role}${exclusive ? ', exclusive' : ''})`), look.width), 'bold', look.colour),
    ...(summary === '' ? [] : wrap(clean(summary), look.width, '    ')),
    ...(inputSchema === undefined ? [] : wrap(clean(`input ${schemaText(inputSchema)}`), look.width, '      ', '    ')),
  ])
}

export function capabilityLines(capabilities: readonly CapabilityView[], look: Look): string[] {
  if (capabilities.length === 0) return ['no capabilities']
  return capabilities.flatMap(({ id, placement, methods, unavailable, grantedTo }) => [
    paint(cut(clean(`${id}  (${placement})`), look.width), 'bold', look.colour),
    ...(unavailable === undefined ? [] : wrap(clean(`unavailable: ${unavailable}`), look.width, '      ', '    ')),
    ...wrap(clean(`methods ${methods.join(', ') || 'none'}`), look.width, '      ', '    '),
    ...(grantedTo.length === 0 ? ['    granted to nobody'] : []),
    ...grantedTo.flatMap((grant) =>
      wrap(clean(`granted to ${grant.agent}: ${grant.methods.join(', ') || 'nothing'}`), look.width, '      ', '    '),
    ),
  ])
}
