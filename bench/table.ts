/**
 * Outcomes to text, pure: the Markdown table of a bench and the lines that say which targets were met. Nothing is
 * left out: a variant without a figure has a row that says why.
 */
import { ratios, type Series, type Spread, spread } from './arithmetic.ts'
import type { Bench, Metric, Outcomes, Target } from './definition.ts'

const FAILURE_LENGTH = 160

/** Three significant digits where digits mean something: 2.34 M, 61,700, 8.21, 0.123. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toPrecision(3)} M`
  if (Math.abs(value) >= 100) return Number(value.toPrecision(3)).toLocaleString('en-US')
  return value.toPrecision(3)
}

/** What a metric was in each round; `undefined` where the variant failed. */
export function seriesOf(outcomes: Outcomes, variant: string, metric: string): Series {
  return (outcomes[variant] ?? []).map((outcome) => ('figures' in outcome ? outcome.figures[metric] : undefined))
}

export function failuresOf(outcomes: Outcomes, variant: string): string[] {
  return (outcomes[variant] ?? []).flatMap((outcome, round) =>
    'failure' in outcome ? [`round ${round + 1}: ${outcome.failure}`] : [],
  )
}

/** @param failed whether the variant failed, as against one that has no such figure */
function spreadCell(series: Series, failed: boolean): string {
  const found = spread(series)
  if (found === undefined) return failed ? 'failed' : '–'
  if (found.count === 1) return formatFigure(found.median)
  return `${formatFigure(found.median)} [${formatFigure(found.min)}–${formatFigure(found.max)}]`
}

function metricCells(outcomes: Outcomes, variant: string, metric: Metric, base: string): string[] {
  const series = seriesOf(outcomes, variant, metric.key)
  const cells = [spreadCell(series, failuresOf(outcomes, variant).length > 0)]
  if (metric.ratio)
    cells.push(formatFigure(spread(ratios(series, seriesOf(outcomes, base, metric.key)))?.median ?? Number.NaN))
  return cells
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Median [min–max] of each metric and the median of the ratios round by round. */
export function markdownTable(bench: Bench, outcomes: Outcomes): string {
  const heads = bench.metrics.flatMap((metric) => (metric.ratio ? [metric.label, `÷ ${bench.base}`] : [metric.label]))
  const rows = Object.keys(outcomes).map((variant) =>
    row([variant, ...bench.metrics.flatMap((metric) => metricCells(outcomes, variant, metric, bench.base))]),
  )
  return [row(['variant', ...heads]), row(['---', ...heads.map(() => '---')]), ...rows].join('\n')
}

/** One line for each failure, empty when there was none. */
export function failureLines(outcomes: Outcomes): string[] {
  return Object.keys(outcomes).flatMap((variant) =>
    failuresOf(outcomes, variant).map((text) => `- FAILED ${variant}, ${text.slice(0, FAILURE_LENGTH)}`),
  )
}

/** One line for each variant that was run and leaves something out. */
export function omissionLines(bench: Bench, outcomes: Outcomes): string[] {
  const omissions = Object.entries(bench.leavesOut ?? {}).filter(([variant]) => variant in outcomes)
  return omissions.map(([variant, text]) => `- without: ${variant}: ${text}`)
}

export interface Verdict {
  readonly target: Target
  /** Median of the ratios round by round; undefined when a side has no figure. */
  readonly ratio: number | undefined
  /** The ratios round by round; undefined when a side has no figure. */
  readonly spread: Spread | undefined
  readonly met: boolean
}

export function judge(target: Target, outcomes: Outcomes): Verdict {
  const own = seriesOf(outcomes, target.variant, target.metric)
  const other = seriesOf(outcomes, target.against, target.againstMetric ?? target.metric)
  const found = spread(ratios(own, other))
  const ratio = found?.median
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target
  return { target, ratio, spread: found, met: ratio !== undefined && ratio >= atLeast && ratio <= atMost }
}

/** `≥ 38 ×` */
export const askedOf = ({ atLeast, atMost }: Target): string =>
  atMost === undefined ? `≥ ${atLeast} ×` : `≤ ${atMost} ×`

/** `31.2 × [28.0–35.1]` */
export const reachedOf = (found: Spread): string =>
  `${formatFigure(found.median)} × [${formatFigure(found.min)}–${formatFigure(found.max)}]`

export function verdictLine({ target, ratio, met }: Verdict): string {
  const said = `${target.variant} ${askedOf(target)} ${target.against}`
  if (ratio === undefined) return `- no figure: ${said}`
  return `- ${met ? 'met' : 'MISSED'}: ${said} (${formatFigure(ratio)} ×)`
}
