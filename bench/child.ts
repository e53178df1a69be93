/**
 * One variant in one process: `child.ts BENCH VARIANT full|quick`. Started by the harness only; sends its figures, or
 * the error as a failure, over the channel to its parent and ends. A crash of the process is seen by the parent.
 */
import { openBench } from './catalogue.ts'
import type { Effort, Outcome } from './definition.ts'

const FULL: Effort = { share: 1, repeats: 3 }
const QUICK: Effort = { share: 0.01, repeats: 1 }

const [name = '', variant = '', pace] = process.argv.slice(2)

async function run(): Promise<Outcome> {
  const bench = await openBench(name)
  const work = bench?.variants[variant]
  if (work === undefined) return { failure: `no variant ${variant} in ${name}` }
  try {
    return { figures: await work(pace === 'quick' ? QUICK : FULL) }
  } catch (error) {
    return { failure: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}

process.send?.(await run(), () => process.exit(0))
