/** `holt why`: sentences, what would change it, and where the records are. */
import type { Why } from '../../model/view.ts'
import { paint, statusColour } from './colour.ts'
import { clean, cut, type Look, wrap } from './text.ts'

export function whyLines({ agent, status, sentences, records, wouldChangeIt }: Why, look: Look): string[] {
  const head = cut(`${clean(agent)} is ${clean(status)}.`, look.width)
  const lines = [paint(head, statusColour(status), look.colour)]
  for (const sentence of sentences) lines.push(...wrap(clean(sentence), look.width, '  ', ''))
  if (wouldChangeIt.length > 0) lines.push('', 'What would change it:')
  for (const way of wouldChangeIt) lines.push(...wrap(clean(way), look.width, '    ', '  - '))
  if (records.length > 0) lines.push('', ...wrap(clean(`Records: ${records.join(', ')}`), look.width, '  ', ''))
  return lines
}
