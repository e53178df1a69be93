/** The watchdog's judgement: each limit reached and passed, and the host's own lag. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeLife, type LifeSigns } from '../../src/supervisor/watchdog.ts'

const SOUND: LifeSigns = {
  heartbeatAgeMs: 0,
  hostLagMs: 0,
  busyForMs: null,
  unresponsiveAfterMs: 5000,
  killAfterMs: 15_000,
  handlerTimeoutMs: 0,
  wasUnresponsive: false,
  heapUsedMb: 10,
  heapMb: 64,
}
const LONG_SILENT = { wasUnresponsive: true }

describe('the judgement', () => {
  it.each([
    ['a fresh heartbeat', {}, 'good'],
    ['a heartbeat exactly as old as allowed', { heartbeatAgeMs: 5000 }, 'good'],
    ['a heartbeat one millisecond older', { heartbeatAgeMs: 5001 }, 'unresponsive'],
    ['silence up to the last millisecond', { heartbeatAgeMs: 15_000, ...LONG_SILENT }, 'unresponsive'],
    ['silence past it', { heartbeatAgeMs: 15_001, ...LONG_SILENT }, 'kill'],
    ['silence past it, seen for the first time', { heartbeatAgeMs: 15_001 }, 'unresponsive'],
    ['a heartbeat again', { heartbeatAgeMs: 100, ...LONG_SILENT }, 'good'],
    ['an old heartbeat, all of it the lag of the host', { heartbeatAgeMs: 20_000, hostLagMs: 19_000 }, 'good'],
    ['an old heartbeat, the lag aside', { heartbeatAgeMs: 25_000, hostLagMs: 19_000 }, 'unresponsive'],
    ['a lag of the host that hides no silence', { heartbeatAgeMs: 35_000, hostLagMs: 19_000, ...LONG_SILENT }, 'kill'],
    ['a lag below nothing, from a coarse clock', { heartbeatAgeMs: 5000, hostLagMs: -3 }, 'good'],
    ['a slow handler without a limit', { busyForMs: 3_600_000 }, 'good'],
    ['a handler at its limit', { busyForMs: 1000, handlerTimeoutMs: 1000 }, 'good'],
    ['a handler past its limit', { busyForMs: 1001, handlerTimeoutMs: 1000 }, 'handler_timeout'],
    ['nothing running, with a limit', { busyForMs: null, handlerTimeoutMs: 1 }, 'good'],
    [
      'silence and a handler past its limit',
      { heartbeatAgeMs: 9000, busyForMs: 9000, handlerTimeoutMs: 10 },
      'handler_timeout',
    ],
    ['killing turned off', { heartbeatAgeMs: 1e9, killAfterMs: 0, ...LONG_SILENT }, 'unresponsive'],
    ['a heap exactly at the watermark', { heapUsedMb: 57.6 }, 'good'],
    ['a heap above it', { heapUsedMb: 57.61 }, 'out_of_memory'],
    ['no word of the heap yet', { heapUsedMb: 0 }, 'good'],
    [
      'a heap above it, before anything else is wrong',
      { heapUsedMb: 60, heartbeatAgeMs: 1e9, busyForMs: 1e9, handlerTimeoutMs: 1, ...LONG_SILENT },
      'out_of_memory',
    ],
    ['the watchdog turned off', { heartbeatAgeMs: 1e9, killAfterMs: 0, unresponsiveAfterMs: 0 }, 'good'],
  ] as const)('%s', (_name, signs, expected) => {
    expect(judgeLife({ ...SOUND, ...signs })).toBe(expected)
  })

  it('never ends a thread for a time when the host itself did not run', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 5000 }), fc.boolean(), (hostLagMs, own, wasUnresponsive) => {
        expect(judgeLife({ ...SOUND, hostLagMs, heartbeatAgeMs: hostLagMs + own, wasUnresponsive })).toBe('good')
      }),
    )
  })
})
