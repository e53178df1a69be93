/**
 * Runs to one HTML page, pure: targets, then a section for each bench with its conditions, a chart and a table for each
 * metric, and what each variant leaves out. The page needs no network and no script, and says so to the browser.
 */
import { ratios, spread } from './arithmetic.ts'
import type { Bench, Metric } from './definition.ts'
import { escapeText } from './escape.ts'
import { describeSurroundings } from './machine.ts'
import { chartOf, isOurs } from './report-chart.ts'
import { type Measured, type TargetRow, targetRows } from './report-markdown.ts'
import { STYLE } from './report-style.ts'
import { isFull, type Run } from './results.ts'
import { failuresOf, formatFigure, seriesOf } from './table.ts'

const POLICY = "default-src 'none'; style-src 'unsafe-inline'"

const NOWRAP = 'class="whole"'

const element = (name: string, content: string, attributes = ''): string =>
  `<${name}${attributes === '' ? '' : ` ${attributes}`}>${content}</${name}>`

const text = (name: string, content: string, attributes = ''): string => element(name, escapeText(content), attributes)

/** @param cells HTML */
const row = (cells: readonly string[], attributes = ''): string => element('tr', cells.join(''), attributes)

/** @param shown whether the caption is seen, or only read out where something else beside the table says it */
function table(caption: string, heads: readonly string[], rows: readonly string[], shown = true): string {
  const head = row(heads.map((each) => text('th', each, 'scope="col"')))
  const parts = [
    text('caption', caption, shown ? '' : 'class="unseen"'),
    element('thead', head),
    element('tbody', rows.join('\n')),
  ]
  return element('div', element('table', parts.join('\n')), 'class="scroll"')
}

const verdictCell = (verdict: TargetRow['verdict']): string =>
  element('td', text('span', verdict, `class="verdict ${verdict.replace(' ', '-')}"`))

function targetsTable(rows: readonly TargetRow[], caption: string): string {
  const cells = rows.map(({ bench, claim, asked, reached, verdict }) => {
    const link = element('td', text('a', bench, `href="#${escapeText(bench)}"`))
    return row([link, text('td', claim), text('td', asked, NOWRAP), text('td', reached, NOWRAP), verdictCell(verdict)])
  })
  return table(caption, ['bench', 'claim', 'asked', 'reached: median [min–max]', ''], cells)
}

function metricTable(bench: Bench, metric: Metric, { outcomes }: Run): string {
  const heads = ['variant', 'median', 'min', 'max', ...(metric.ratio ? [`÷ ${bench.base}`] : [])]
  const base = seriesOf(outcomes, bench.base, metric.key)
  const rows = Object.keys(outcomes).map((variant) => {
    const series = seriesOf(outcomes, variant, metric.key)
    const found = spread(series)
    const none = failuresOf(outcomes, variant).length > 0 ? 'failed' : '–'
    const figures = [found?.median, found?.min, found?.max].map((value) =>
      value === undefined ? none : formatFigure(value),
    )
    const ratio = formatFigure(spread(ratios(series, base))?.median ?? Number.NaN)
    const cells = [...figures, ...(metric.ratio ? [ratio] : [])].map((each) => text('td', each, 'class="figure"'))
    return row([text('th', variant, 'scope="row"'), ...cells], isOurs(variant) ? 'class="ours"' : '')
  })
  return table(metric.label, heads, rows, false)
}

function metricFigure(bench: Bench, metric: Metric, run: Run): string {
  const chart = chartOf(bench, metric, run.outcomes, `${bench.name}-${metric.key}`)
  const scale = chart?.logarithmic === true ? element('small', ' logarithmic scale') : ''
  const caption = element('figcaption', `${escapeText(metric.label)}${scale}`)
  const drawing = chart?.svg ?? text('p', 'No variant has a figure.', 'class="none"')
  const drawn = element('figure', `${caption}\n${element('div', drawing, 'class="scroll"')}`)
  return element('div', `${drawn}\n${metricTable(bench, metric, run)}`, 'class="metric"')
}

function failureList({ outcomes }: Run): string {
  const lines = Object.keys(outcomes).flatMap((variant) =>
    failuresOf(outcomes, variant).map((reason) => text('li', `${variant}, ${reason}`)),
  )
  return lines.length === 0 ? '' : element('div', `<h3>Failed</h3>${element('ul', lines.join(''))}`, 'class="failed"')
}

function omissions({ leavesOut = {} }: Bench, { outcomes }: Run): string {
  const lines = Object.entries(leavesOut).filter(([variant]) => variant in outcomes)
  if (lines.length === 0) return ''
  const rows = lines.map(([variant, what]) => row([text('th', variant, 'scope="row"'), text('td', what)]))
  return table('What a variant leaves out', ['variant', 'without'], rows)
}

function conditions(bench: Bench, run: Run): string {
  const [machine, versions] = describeSurroundings(run.where).split('\n')
  const partial = isFull(run, bench) ? '' : ' A partial run: not the one that is kept.'
  const cpu = run.oneCpu ? ', one processor' : ''
  const rounds = `${run.rounds} ${run.rounds === 1 ? 'round' : 'rounds'}`
  const how = `${rounds}, each variant in a fresh process${cpu}; ${Math.round(run.tookMs / 1000)} s; ${run.at}.${partial}`
  const entries = { machine: machine!, versions: versions!, run: how }
  const list = Object.entries(entries).map(([term, said]) => `${text('dt', term)}${text('dd', said)}`)
  return element('dl', `${list.join('')}<dt>command</dt><dd>${text('code', run.command)}</dd>`)
}

function section({ bench, run }: Measured): string {
  const heading = `<h2>${escapeText(bench.name)}</h2>${text('p', bench.summary, 'class="summary"')}`
  const attributes = `id="${escapeText(bench.name)}"`
  if (run === undefined) return element('section', `${heading}${text('p', 'Not run yet.', 'class="none"')}`, attributes)
  const targets = targetRows([{ bench, run }])
  const parts = [
    heading,
    conditions(bench, run),
    failureList(run),
    targets.length === 0 ? '' : targetsTable(targets, 'Targets'),
    ...bench.metrics.map((metric) => metricFigure(bench, metric, run)),
    omissions(bench, run),
  ]
  return element('section', parts.filter((part) => part !== '').join('\n'), attributes)
}

/** The page of all these benches, those that have not been run included. */
export function htmlReport(all: readonly Measured[]): string {
  const rows = targetRows(all)
  const count = (verdict: TargetRow['verdict']): number => rows.filter((each) => each.verdict === verdict).length
  const tally = `${count('met')} of ${rows.length} targets met, ${count('missed')} missed, ${count('not measured')} not measured.`
  const links = all.map(({ bench }) => text('a', bench.name, `href="#${escapeText(bench.name)}"`))
  const how =
    'Bars are medians over the rounds, lines reach from the least to the greatest, Holt is blue. Ratios are taken round by round. Read ratios, not figures.'
  const body = [
    element('header', `<h1>What Holt costs</h1>${text('p', tally)}${text('p', how)}`),
    element('nav', links.join(' '), 'aria-label="Benches"'),
    targetsTable(rows, 'All targets'),
    ...all.map(section),
  ]
  const head = [
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeText(POLICY)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<title>Holt: benches</title>',
    element('style', STYLE),
  ]
  return `<!doctype html>\n<html lang="en">\n<head>\n${head.join('\n')}\n</head>\n<body>\n${body.join('\n')}\n</body>\n</html>\n`
}
