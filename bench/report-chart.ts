/**
 * One metric of a bench as a chart: a bar a variant, a line from the least to the greatest round, the figures beside it.
 * Drawn by ECharts to SVG text, without a browser. Text and axes take the colour of the page, so that one drawing is
 * legible on light and on dark.
 */
import * as echarts from 'echarts'
import { type Spread, spread } from './arithmetic.ts'
import type { Bench, Metric, Outcomes } from './definition.ts'
import { escapeText } from './escape.ts'
import { formatFigure, seriesOf } from './table.ts'

const WIDTH = 640
const ROW_HEIGHT = 34
const BAR_HEIGHT = 16
/** Of the scale below the bars. */
const AXIS_HEIGHT = 34
const LABEL_WIDTH = 190
const FIGURES_WIDTH = 170
const CAP = 4
/** From this ratio of the greatest to the least on, a linear scale shows the small ones as nothing. */
const LOG_FROM = 30

/** What no colour of ours is: put in for the colour of the page's text, and replaced in the finished drawing. */
const INK = '#010203'
const OURS = '#2f7fd6'
const OTHER = '#8f99a6'

interface Row {
  readonly variant: string
  readonly found: Spread
}

export interface Chart {
  readonly svg: string
  readonly logarithmic: boolean
}

export const isOurs = (variant: string): boolean => /\bHolt\b/.test(variant)

const figuresOf = ({ median, min, max, count }: Spread): string =>
  count === 1 ? formatFigure(median) : `${formatFigure(median)} [${formatFigure(min)}–${formatFigure(max)}]`

/** A line from the least to the greatest, with a cap at each end. */
function whisker(_: unknown, api: echarts.CustomSeriesRenderItemAPI): echarts.CustomSeriesRenderItemReturn {
  const row = api.value(0) as number
  const [left, y] = api.coord([api.value(1), row]) as [number, number]
  const [right] = api.coord([api.value(2), row]) as [number, number]
  const line = (x1: number, y1: number, x2: number, y2: number) =>
    ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: INK, lineWidth: 1.5 } }) as const
  return {
    type: 'group',
    children: [line(left, y, right, y), line(left, y - CAP, left, y + CAP), line(right, y - CAP, right, y + CAP)],
  }
}

function scaleOf(rows: readonly Row[], logarithmic: boolean): echarts.EChartsOption['xAxis'] {
  const text = {
    color: INK,
    fontSize: 11,
    hideOverlap: true,
    showMaxLabel: logarithmic,
    formatter: (value: number) => formatScale(value),
  }
  const line = { lineStyle: { color: INK, opacity: 0.15 } }
  const greatest = Math.max(...rows.map(({ found }) => found.max))
  const least = Math.min(...rows.map(({ found }) => found.min))
  const common = { axisLabel: text, splitLine: line, axisLine: { show: false }, axisTick: { show: false } }
  if (!logarithmic) return { type: 'value', min: 0, max: greatest, ...common }
  // A decade below the least, so that its bar has a length.
  const from = 10 ** Math.floor(Math.log10(least) - 0.3)
  return { type: 'log', min: from, max: 10 ** Math.ceil(Math.log10(greatest)), ...common }
}

/** `2 M`, `500 k`, `0.1`: short, for a scale. */
export function formatScale(value: number): string {
  const short = (divisor: number, unit: string): string => `${Number((value / divisor).toPrecision(3))}${unit}`
  if (value >= 1e6) return short(1e6, ' M')
  return value >= 1e3 ? short(1e3, ' k') : short(1, '')
}

function draw(rows: readonly Row[], logarithmic: boolean): string {
  const height = rows.length * ROW_HEIGHT + AXIS_HEIGHT
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: INK },
    grid: { left: LABEL_WIDTH, right: FIGURES_WIDTH, top: 4, bottom: AXIS_HEIGHT - 4 },
    xAxis: scaleOf(rows, logarithmic),
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows.map(({ variant }) => variant),
      axisLabel: { color: INK, fontSize: 12, interval: 0, width: LABEL_WIDTH - 14, overflow: 'break', lineHeight: 14 },
      axisLine: { lineStyle: { color: INK, opacity: 0.4 } },
      axisTick: { show: false },
    },
    series: [
      {
        type: 'bar',
        silent: true,
        barWidth: BAR_HEIGHT,
        data: rows.map(({ variant, found }) => ({
          value: found.median,
          itemStyle: { color: isOurs(variant) ? OURS : OTHER },
        })),
      },
      {
        type: 'custom',
        silent: true,
        z: 3,
        renderItem: whisker,
        encode: { x: [1, 2], y: 0 },
        data: rows.map(({ found }, row) => [row, found.min, found.max]),
      },
      {
        // Nothing but the place of the figures, right of the greatest.
        type: 'scatter',
        silent: true,
        symbolSize: 0.1,
        itemStyle: { color: 'none' },
        label: {
          show: true,
          position: 'right',
          distance: 8,
          color: INK,
          fontSize: 12,
          formatter: ({ dataIndex }: { dataIndex: number }) => figuresOf(rows[dataIndex]!.found),
        },
        data: rows.map(({ found }, row) => [found.max, row]),
      },
    ],
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

/** Without what is there for a pointer and for a script: nobody moves over a drawing. */
const plain = (svg: string): string => svg.replaceAll(/<style\b.*?<\/style>| (ecmeta_\w+|class)="[^"]*"/gs, '')

/**
 * The chart of one metric; undefined where no variant has a figure of it.
 *
 * @param id unique on its page
 */
export function chartOf(bench: Bench, metric: Metric, outcomes: Outcomes, id: string): Chart | undefined {
  const rows = Object.keys(outcomes).flatMap((variant) => {
    const found = spread(seriesOf(outcomes, variant, metric.key))
    return found === undefined ? [] : [{ variant, found }]
  })
  if (rows.length === 0) return undefined
  const least = Math.min(...rows.map(({ found }) => found.min))
  const greatest = Math.max(...rows.map(({ found }) => found.max))
  const logarithmic = least > 0 && greatest / least > LOG_FROM
  const title = `${bench.name}, ${metric.label}`
  const said = rows.map(({ variant, found }) => `${variant}: ${figuresOf(found)}`).join('; ')
  const open = `<svg role="img" aria-labelledby="${id}-title ${id}-desc" `
  const names = `<title id="${id}-title">${escapeText(title)}</title><desc id="${id}-desc">${escapeText(said)}</desc>`
  const svg = plain(draw(rows, logarithmic))
    .replaceAll(INK, 'currentColor')
    .replace('<svg ', open)
    .replace(/^(<svg [^>]*>)/, `$1${names}`)
  return { svg, logarithmic }
}
