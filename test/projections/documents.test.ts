/** Real documents of ECS, Kubernetes and Compose: the status and the cause of each. */
import { describe, expect, it } from 'vitest'
import { classOf, type DeathCause } from '../../src/model/death.ts'
import { classify, type Projection, project, projectAll, RUNTIMES } from '../../src/projections/index.ts'
import { FIXTURES } from './fixtures.ts'

/** What a fixture says of a projection, in its words. */
const told = (projection: Projection): Record<string, unknown> => {
  if (projection.status === 'not-conforming') return { status: projection.status }
  if (projection.status === 'undecidable') return { status: projection.status, between: projection.between }
  const { status, death, healthCause } = projection
  return {
    status,
    ...(death === null ? {} : { cause: death.cause }),
    ...(death?.exitCode === undefined ? {} : { exitCode: death.exitCode }),
    ...(healthCause === null ? {} : { healthCause }),
  }
}

describe('real documents', () => {
  it('are at least forty, of every runtime, each from a public page', () => {
    expect(FIXTURES.length).toBeGreaterThanOrEqual(40)
    for (const runtime of RUNTIMES) expect(FIXTURES.filter((one) => one.runtime === runtime).length).toBeGreaterThan(10)
    expect(FIXTURES.filter(({ source }) => !source.startsWith('https://'))).toEqual([])
  })

  it('come to every status there is', () => {
    const statuses = new Set(FIXTURES.map((one) => one.expect.status))
    for (const status of ['Starting', 'Running', 'Paused', 'Unhealthy', 'Stopping', 'Stopped']) {
      expect(statuses).toContain(status)
    }
    expect(statuses).toContain('undecidable')
    expect(statuses).toContain('not-conforming')
  })

  it.each(FIXTURES)('$runtime: $name is $expect.status', ({ runtime, document, previous, expect: expected }) => {
    const projection = project(runtime, document, previous)
    expect(told(projection)).toEqual(expected)
    expect(projection.reasons).not.toEqual([])
    if (projection.status === 'undecidable') expect(projection.wouldDecide).not.toEqual([])
    else if (projection.status === 'not-conforming') expect(projection.toSet).not.toEqual([])
    else {
      expect(projection.status).toBe(classify(projection.axes))
      const { death } = projection
      if (death !== null && death.cause !== 'undecidable') expect(death.class).toBe(classOf(death.cause as DeathCause))
    }
  })

  it('of a whole namespace are classified in one call, in their order', () => {
    const pods = FIXTURES.filter((one) => one.runtime === 'kubernetes' && one.previous === undefined)
    const list = { apiVersion: 'v1', kind: 'List', items: pods.map(({ document }) => document), metadata: {} }
    const projections = projectAll('kubernetes', list)
    expect(projections.map(({ status }) => status)).toEqual(pods.map((one) => one.expect.status))
  })
})
