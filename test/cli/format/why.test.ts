import { expect, it } from 'vitest'
import { whyLines } from '../../../src/cli/format/why.ts'
import { PLAIN } from '../agents.ts'

it('why is sentences, what would change it, and where the records are', () => {
  const why = {
    agent: 'reader',
    status: 'Unhealthy',
    sentences: [
      'It waits for restart 3.',
      'Its last instance died while it was at read, of an error that says: The encoded data was not valid.',
    ],
    records: ['d-1', 'd-2'],
    wouldChangeIt: ['restart: begins at once, without waiting for the delay that the supervisor has set for it'],
  } as const
  expect(whyLines(why, PLAIN)).toEqual([
    'reader is Unhealthy.',
    'It waits for restart 3.',
    'Its last instance died while it was at read, of an error that says: The encoded',
    '  data was not valid.',
    '',
    'What would change it:',
    '  - restart: begins at once, without waiting for the delay that the supervisor',
    '    has set for it',
    '',
    'Records: d-1, d-2',
  ])
})

it('why is only what there is to say', () => {
  expect(whyLines({ agent: 'a', status: 'Running', sentences: [], records: [], wouldChangeIt: [] }, PLAIN)).toEqual([
    'a is Running.',
  ])
})
