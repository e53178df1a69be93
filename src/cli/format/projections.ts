/** `holt classify`: one line an instance, and how many there are of each status. */
import type { Status } from '../../model/canonical.ts'
import type { Projection } from '../../projections/projection.ts'
import { statusColour } from './colour.ts'
import { type Cell, type Column, table } from './table.ts'
import { clean, type Look, wrap } from './text.ts'

const COLUMNS: readonly Column[] = [
  { title: 'NAME', least: 12 },
  { title: 'STATUS' },
  { title: 'CAUSE' },
  { title: 'VERSION', least: 7 },
  { title: 'WHY', least: 8 },
]

const WORDS = { undecidable: 'undecidable', 'not-conforming': 'not conforming' } as const
const wordOf = (status: Projection['status']): string =>
  status === 'undecidable' || status === 'not-conforming' ? WORDS[status] : status

/** @param head with the titles: false for all but the first lines of a long list */
export function projectionLines(projections: readonly Projection[], head: boolean, look: Look): string[] {
  const rows = projections.map((one): Cell[] => [
    one.name,
    { text: wordOf(one.status), colour: statusColour(one.status) ?? 'yellow' },
    ('cause' in one ? one.cause : null) ?? '-',
    one.attributes.version ?? '-',
    whyOf(one),
  ])
  const lines = table(COLUMNS, rows, look)
  return head ? lines : lines.slice(1)
}

function whyOf(one: Projection): string {
  const reasons = one.reasons.join('; ')
  if (one.status === 'not-conforming') return `${one.toSet.join('; ')} (${reasons})`
  if (one.status !== 'undecidable') return reasons
  const between = one.between.length < 6 ? `${one.between.join(' or ')}: ` : ''
  return `${between}${reasons}; would decide: ${one.wouldDecide.join('; ')}`
}

const ORDER: readonly Projection['status'][] = [
  ...(['Running', 'Starting', 'Paused', 'Unhealthy', 'Stopping', 'Stopped'] satisfies readonly Status[]),
  'undecidable',
  'not-conforming',
]

export function countLine(counts: ReadonlyMap<Projection['status'], number>, look: Look): string[] {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0)
  if (total === 0) return ['no instances']
  const each = ORDER.filter((status) => counts.has(status)).map((status) => `${counts.get(status)} ${wordOf(status)}`)
  const text = `${total} instance${total === 1 ? '' : 's'}: ${each.join(', ')}`
  return ['', ...wrap(clean(text), look.width, '  ', '')]
}
