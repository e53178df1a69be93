/**
 * Runs to Markdown, pure: what a run prints, the table of targets in the README, the results in bench/README.md, and
 * the exchange of a block between two markers. Called by main.ts and report.ts.
 */
import type { Bench, Metric, Target } from './definition.ts'
import { describeSurroundings } from './machine.ts'
import type { Run } from './results.ts'
import { askedOf, failureLines, judge, markdownTable, omissionLines, reachedOf, verdictLine } from './table.ts'

/** A bench and the run that stands for it; none where it has not been run. */
export interface Measured {
  readonly bench: Bench
  readonly run: Run | undefined
}

export const BEGIN = '<!-- bench:begin -->'
export const END = '<!-- bench:end -->'

/** Where, how often and by which command a run was made. */
export function conditionsOf(run: Run): string[] {
  const { where, rounds, oneCpu, command, at } = run
  const how = `${at.slice(0, 10)}; ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, each variant in a fresh process`
  return [...describeSurroundings(where).split('\n'), `${how}${oneCpu ? ', one processor' : ''}; \`${command}\``]
}

/** One bench: conditions, table, failures, targets and what the variants leave out. */
export function sectionOf(bench: Bench, run: Run): string {
  const { outcomes } = run
  const verdicts = bench.targets
    .filter(({ variant, against }) => variant in outcomes && against in outcomes)
    .map((target) => verdictLine(judge(target, outcomes)))
  const lists = [failureLines(outcomes), verdicts, omissionLines(bench, outcomes)]
  const shown = lists.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  const heading = `### ${bench.name}: ${bench.summary}`
  return [heading, conditionsOf(run).join('\n'), markdownTable(bench, outcomes), ...shown].join('\n\n')
}

export interface TargetRow {
  readonly bench: string
  readonly claim: string
  readonly asked: string
  /** The median of the ratios round by round, with their least and greatest. */
  readonly reached: string
  readonly verdict: 'met' | 'missed' | 'not measured'
}

/** `Holt tell ÷ Comlink (events/s)` */
function claimOf({ variant, against, metric, againstMetric }: Target, metrics: readonly Metric[]): string {
  const label = (key: string): string => metrics.find((each) => each.key === key)?.label ?? key
  const measured = againstMetric === undefined ? label(metric) : `${label(metric)} ÷ ${label(againstMetric)}`
  return `${variant} ÷ ${against} (${measured})`
}

/** Every target of every bench, also those that no run has a figure for. */
export function targetRows(all: readonly Measured[]): TargetRow[] {
  return all.flatMap(({ bench, run }) =>
    bench.targets.map((target) => {
      const { spread, met } = judge(target, run?.outcomes ?? {})
      const said = { bench: bench.name, claim: claimOf(target, bench.metrics), asked: askedOf(target) }
      if (spread === undefined) return { ...said, reached: '–', verdict: 'not measured' }
      return { ...said, reached: reachedOf(spread), verdict: met ? 'met' : 'missed' }
    }),
  )
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** The README's block: all targets, and on which machines they were measured. */
export function targetsBlock(all: readonly Measured[]): string {
  const rows = targetRows(all).map(({ bench, claim, asked, reached, verdict }) => {
    const said = verdict === 'missed' ? '**missed**' : verdict
    return `| ${[`\`${bench}\``, claim, asked, reached, said].map(cell).join(' | ')} |`
  })
  const machines = all.flatMap(({ run }) => {
    if (run === undefined) return []
    const { cpu, cores, memoryGib, node } = run.where
    return [`${cpu}, ${cores} cores, ${memoryGib} GiB, Node ${node}`]
  })
  const where = [...new Set(machines)].join('; ')
  const note = `Median [min–max] of the ratios, round by round. ${where === '' ? 'Nothing has been measured yet' : `Measured on: ${where}`}.`
  return ['| bench | claim | asked | reached | |', '| --- | --- | --- | --- | --- |', ...rows, '', note].join('\n')
}

/** The results of bench/README.md: a section for each bench that has been run. */
export function resultsBlock(all: readonly Measured[]): string {
  const sections = all.flatMap(({ bench, run }) => (run === undefined ? [] : [sectionOf(bench, run)]))
  return sections.length === 0 ? 'No full run is kept yet.' : sections.join('\n\n')
}

/**
 * The text with what stands between its two markers replaced.
 *
 * @throws Error when it has not exactly one of each, in that order
 */
export function replaceBlock(text: string, block: string): string {
  const [before, inner, ...more] = text.split(BEGIN)
  const [, after, ...others] = inner?.split(END) ?? []
  if (before?.includes(END) || after === undefined || more.length > 0 || others.length > 0)
    throw new Error(`Expected one ${BEGIN} and after it one ${END}`)
  return `${before}${BEGIN}\n\n${block}\n\n${END}${after}`
}
