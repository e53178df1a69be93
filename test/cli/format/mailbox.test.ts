import { describe, expect, it } from 'vitest'
import { mailboxLines } from '../../../src/cli/format/mailbox.ts'
import { NOW, PLAIN } from '../agents.ts'

const empty = {
  id: 'librarian',
  depth: 0,
  capacity: 256,
  inFlight: [],
  waiting: [],
  dropped: 0,
  ignored: 0,
  deadLetters: 0,
}

describe('a mailbox', () => {
  it('shows what is in flight since when, and what waits', () => {
    const view = {
      ...empty,
      depth: 2,
      inFlight: [{ seq: 1, id: 7, name: 'find', kind: 'ask', begunAt: NOW - 3000 }],
      waiting: [
        { id: 8, name: 'document.added', kind: 'event', ageMs: 2000, from: 'reader' },
        { id: 9, name: 'find', kind: 'ask', ageMs: 15 },
      ],
      dropped: 44,
    } as const
    expect(mailboxLines(view, NOW, PLAIN)).toEqual([
      'librarian: 2 of 256 wait, 1 in flight; 44 dropped, 0 ignored, 0 dead letters',
      '',
      '           MESSAGE  KIND   NAME             FOR  FROM',
      'in flight        7  ask    find              3s',
      'waits            8  event  document.added    2s  reader',
      'waits            9  ask    find            15ms',
    ])
  })

  it('that is empty is one line', () => {
    expect(mailboxLines(empty, NOW, PLAIN)).toEqual([
      'librarian: 0 of 256 wait, 0 in flight; 0 dropped, 0 ignored, 0 dead letters',
    ])
  })

  it('shows the first of many, and counts the others', () => {
    const waiting = Array.from({ length: 100 }, (_, id) => ({ id, name: 'add', kind: 'event', ageMs: 1 }) as const)
    const lines = mailboxLines({ ...empty, depth: 250, waiting }, NOW, PLAIN)
    expect(lines).toHaveLength(1 + 1 + 1 + 20 + 1)
    expect(lines.at(-1)).toBe('… and 230 more')
  })
})
