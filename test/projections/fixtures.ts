/** Real documents of other runtimes, each with where it is from and what is expected of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Previous, Runtime } from '../../src/projections/index.ts'
import { RUNTIMES } from '../../src/projections/index.ts'

export interface Fixture {
  readonly runtime: Runtime
  readonly name: string
  readonly source: string
  readonly note?: string
  readonly expect: {
    readonly status: string
    readonly cause?: string
    readonly exitCode?: number
    readonly healthCause?: string
    readonly between?: readonly string[]
  }
  readonly previous?: Previous
  readonly document: object
}

const FOLDER = fileURLToPath(new URL('../fixtures/projections', import.meta.url))

export const FIXTURES: readonly Fixture[] = RUNTIMES.flatMap((runtime) =>
  readdirSync(`${FOLDER}/${runtime}`).map((file) => ({
    runtime,
    name: file.replace(/\.json$/, ''),
    ...(JSON.parse(readFileSync(`${FOLDER}/${runtime}/${file}`, 'utf8')) as Omit<Fixture, 'runtime' | 'name'>),
  })),
)

export const fixture = (runtime: Runtime, name: string): Fixture =>
  FIXTURES.find((one) => one.runtime === runtime && one.name === name)!
