/** Whatever is handed in, the answer is a projection: the same each time, and by the `classify` of the host. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as canonical from '../../src/model/canonical.ts'
import { DEATH_CAUSES } from '../../src/model/death.ts'
import { classify, type Previous, type Projection, project, projectAll, RUNTIMES } from '../../src/projections/index.ts'
import { FIXTURES } from './fixtures.ts'

const runs = Number(process.env['HOLT_FUZZ_RUNS'] ?? 400)
const check = <T>(arbitrary: fc.Arbitrary<T>, predicate: (value: T) => void): void =>
  fc.assert(fc.property(arbitrary, predicate), { numRuns: runs })

const runtimes = fc.constantFrom(...RUNTIMES)
const previous: fc.Arbitrary<Previous> = fc.record(
  { identityVerified: fc.boolean(), cordoned: fc.boolean(), stopRequested: fc.boolean() },
  { requiredKeys: [] },
)
const junk = fc.anything({
  withNullPrototype: true,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSparseArray: true,
})

/** Native words, known ones and others, so that documents come near the rules. */
const words = fc.constantFrom(
  ...['RUNNING', 'STOPPED', 'PENDING', 'DEACTIVATING', 'HEALTHY', 'UNHEALTHY', 'UNKNOWN', 'DISCONNECTED', 'NAPPING'],
  ...['Running', 'Pending', 'Failed', 'Succeeded', 'Unknown', 'True', 'False', 'Ready', 'Evicted', 'CrashLoopBackOff'],
  ...[
    'running',
    'paused',
    'exited',
    'created',
    'dead',
    'healthy',
    'starting',
    'always',
    'no',
    'constructor',
    '__proto__',
  ],
)

/** Every value of a real document, now and then replaced. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  const same = Array.isArray(value)
    ? fc.tuple(...value.map(mutated))
    : typeof value === 'object' && value !== null
      ? fc.record(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mutated(inner)])))
      : fc.constant(value)
  return fc.oneof({ weight: 12, arbitrary: same }, { weight: 1, arbitrary: words }, { weight: 1, arbitrary: junk })
}
const mutants = fc
  .constantFrom(...FIXTURES)
  .chain(({ runtime, document }) => mutated(document).map((changed) => ({ runtime, document: changed })))

function holds(projection: Projection): void {
  expect(projection.reasons.every((reason) => typeof reason === 'string' && reason !== '')).toBe(true)
  if (projection.status === 'undecidable') {
    expect(projection.wouldDecide).not.toEqual([])
    expect(projection.between.length).toBeGreaterThan(1)
  } else if (projection.status === 'not-conforming') expect(projection.toSet).not.toEqual([])
  else {
    expect(projection.status).toBe(canonical.classify(projection.axes))
    if (projection.death !== null) expect([...DEATH_CAUSES, 'undecidable']).toContain(projection.death.cause)
    if (projection.axes.alive) expect(projection.death).toBeNull()
    expect(projection.healthCause === null).toBe(projection.axes.health === 'good')
    expect(projection.cause).toBe(projection.death?.cause ?? projection.healthCause)
  }
}

describe('a projection', () => {
  it('is by the classify that the host uses, and no other', () => {
    expect(classify).toBe(canonical.classify)
  })

  it('comes of whatever is handed in, and nothing is thrown', () => {
    check(fc.tuple(runtimes, junk, previous), ([runtime, document, known]) => holds(project(runtime, document, known)))
  })

  it('comes of real documents in which anything may have been replaced', () => {
    check(fc.tuple(mutants, previous), ([{ runtime, document }, known]) => holds(project(runtime, document, known)))
  })

  it('comes of a whole list with junk in it, one for each element', () => {
    check(fc.tuple(runtimes, fc.array(junk)), ([runtime, list]) => {
      const projections = projectAll(runtime, list)
      expect(projections.length).toBe(list.length)
      projections.forEach(holds)
    })
  })

  it('is the same for the same document, and leaves the document as it was', () => {
    check(fc.tuple(mutants, previous), ([{ runtime, document }, known]) => {
      const before = fc.stringify(document)
      expect(project(runtime, document, known)).toEqual(project(runtime, document, known))
      expect(fc.stringify(document)).toBe(before)
    })
  })

  it('is never Running for an instance that is cordoned, nor Starting for one past its start', () => {
    check(mutants, ({ runtime, document }) => {
      expect(project(runtime, document, { cordoned: true }).status).not.toBe('Running')
      expect(project(runtime, document, { identityVerified: true }).status).not.toBe('Starting')
    })
  })

  it('carries the latch: what an earlier projection knew is not forgotten', () => {
    check(fc.tuple(mutants, fc.boolean()), ([{ runtime, document }, identityVerified]) => {
      const next = project(runtime, document, { identityVerified })
      if ('axes' in next && identityVerified) expect(next.axes.identityVerified).toBe(true)
    })
  })

  it('survives documents whose properties throw', () => {
    const trap = (): never => {
      throw new Error('hands off')
    }
    const proxy = new Proxy({}, { get: trap, has: trap, ownKeys: trap, getOwnPropertyDescriptor: trap })
    const { proxy: revoked, revoke } = Proxy.revocable([], {})
    revoke()
    const getter = Object.defineProperty({}, 'lastStatus', { get: trap, enumerable: true })
    for (const runtime of RUNTIMES)
      for (const document of [proxy, revoked, getter]) {
        expect(project(runtime, document).status).toBe('undecidable')
        expect(projectAll(runtime, [document])).toHaveLength(1)
        expect(projectAll(runtime, document)).toHaveLength(1)
      }
  })
})
