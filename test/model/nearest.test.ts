import { expect, it } from 'vitest'
import { nearest } from '../../src/model/nearest.ts'

const KNOWN = ['id', 'name', 'restart', 'maxRestarts', 'mailbox', 'limits', 'heapMb']

const cases: [string, string | undefined][] = [
  ['restrat', 'restart'],
  ['Restart', 'restart'],
  ['max_restart', 'maxRestarts'],
  ['max-restarts', 'maxRestarts'],
  ['heap_mb', 'heapMb'],
  ['mailboxes', 'mailbox'],
  ['limit', 'limits'],
  ['zebra', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
]
it.each(cases)('%s is near to %s', (name, expected) => {
  expect(nearest(name, KNOWN)).toBe(expected)
})

it('knows nothing near in nothing', () => {
  expect(nearest('id', [])).toBeUndefined()
})
