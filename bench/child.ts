/**
 * One variant in one process: `child.ts BENCH VARIANT full|quick|large ROUND`. Started by the harness only; sends its figures, or
 * the error as a failure, over the channel to its parent and ends. A crash of the process is seen by the parent.
 */
import { openBench } from './catalogue.ts'
import type { Effort, Outcome } from './definition.ts'

const FULL = { share: 0.4, repeats: 3, large: false }
const PACES: Readonly<Record<string, Omit<Effort, 'round'>>> = {
  quick: { share: 0.01, repeats: 1, large: false },
  large: { ...FULL, large: true },
}

const [name = '', variant = '', pace = '', round = '0'] = process.argv.slice(2)

async function run(): Promise<Outcome> {
  const bench = await openBench(name)
  const work = bench?.variants[variant]
  if (work === undefined) return { failure: `no variant ${variant} in ${name}` }
  const effort: Effort = { ...(PACES[pace] ?? FULL), round: Number(round) }
  try {
    return { figures: await work(effort) }
  } catch (error) {
    return { failure: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}

process.send?.(await run(), () => process.exit(0))
