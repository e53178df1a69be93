/**
 * The report on disk: bench/report.html, and the blocks between markers in the two READMEs. Called by main.ts: the page
 * after a run, which stands in for what was kept of the same bench, and for `--report`; the blocks for `--readme` alone, from
 * what was kept alone, so that no run of a day changes what the READMEs claim.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { benchNames, openBench } from './catalogue.ts'
import { htmlReport } from './report-html.ts'
import { type Measured, replaceBlock, resultsBlock, targetsBlock } from './report-markdown.ts'
import { type Run, readKept } from './results.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export const REPORT = at('./report.html')

const BLOCKS = { [at('../README.md')]: targetsBlock, [at('./README.md')]: resultsBlock }

export const README_FILES = Object.keys(BLOCKS)

/** Every bench with the run that stands for it: one of these, or else the newest full one. */
async function measured(runs: readonly Run[]): Promise<Measured[]> {
  const benches = await Promise.all(benchNames.map(openBench))
  return benches.map((bench, index) => {
    const name = benchNames[index]!
    return { bench: bench!, run: runs.find((run) => run.bench === name) ?? readKept(name) }
  })
}

export async function writeReport(runs: readonly Run[]): Promise<void> {
  writeFileSync(REPORT, htmlReport(await measured(runs)))
}

/** Writes the tables of README.md and bench/README.md anew; what stands outside of their markers stays. */
export async function writeTables(): Promise<void> {
  const all = await measured([])
  for (const [file, blockOf] of Object.entries(BLOCKS))
    writeFileSync(file, replaceBlock(readFileSync(file, 'utf8'), blockOf(all)))
}
