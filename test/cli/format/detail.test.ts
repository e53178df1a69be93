import { describe, expect, it } from 'vitest'
import { detailLines } from '../../../src/cli/format/detail.ts'
import { detail, NOW, PLAIN } from '../agents.ts'
import { death } from '../deaths.ts'

describe('an agent in detail', () => {
  it('is a line a subject', () => {
    expect(detailLines(detail(), NOW, PLAIN)).toEqual([
      'librarian  Librarian 1.0.0',
      '  status      Running, ACTIVE, idle',
      '  intent      running, admission open, generation 1',
      '  instance    i-1, epoch 3, up 12s',
      '  supervisor  root, 0 restarts',
      '  mailbox     0 of 256 wait, 0 in flight',
      '              0 dropped, 0 ignored',
      '  messages    4 received, 3 completed, 1 failed',
      '  heap        12.3 of 256 MB',
      '  roles       search',
      '  may call    text (terms)',
    ])
  })

  it('says who paused it, what holds it, how it died and how its handlers did', () => {
    const lines = detailLines(
      detail({
        status: 'Paused',
        phase: 'PAUSING',
        admission: 'cordoned',
        pausedSince: NOW - 3000,
        pausedBy: 'operator',
        reason: 'moving house',
        command: { name: 'pause', since: NOW - 3000, by: 'operator' },
        restarts: 1,
        heapUsedMb: null,
        lastDeath: death(),
        mailbox: { depth: 2, capacity: 256, inFlight: 1, oldestAgeMs: 2500, dropped: 0, ignored: 0 },
        invocationMetrics: { find: { count: 1200, errors: 3, p50Ms: 0.123, p95Ms: 12.4, p99Ms: null } },
      }),
      NOW,
      PLAIN,
    )
    expect(lines).toContain('  intent      running, admission cordoned since 2026-07-30 12:03:01 UTC by')
    expect(lines).toContain('              operator (moving house), generation 1')
    expect(lines).toContain("  command     held by 'pause' of operator")
    expect(lines).toContain('  supervisor  root, 1 restart')
    expect(lines).toContain('  mailbox     2 of 256 wait, the oldest for 2s, 1 in flight')
    expect(lines).toContain('  heap        - of 256 MB')
    expect(lines).toContain('  last death  07-30 12:03:04 UTC crash: The encoded data was not valid for')
    expect(lines.slice(-3)).toEqual([
      '',
      'HANDLER  COUNT  ERRORS     P50   P95  P99',
      'find      1200       3  0.12ms  12ms    -',
    ])
  })
})
