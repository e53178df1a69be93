import { describe, expect, it } from 'vitest'
import { fleetLines, listLines, statusText } from '../../../src/cli/format/status.ts'
import { widthOf } from '../../../src/cli/format/text.ts'
import { agent, fleet, NOW, PLAIN } from '../agents.ts'

describe('the status of an agent', () => {
  it.each([
    ['Running', {}],
    ['Paused', { status: 'Paused', admission: 'cordoned' }],
    ['Stopped', { status: 'Stopped', intent: 'stopped' }],
    ['Stopping', { status: 'Stopping', intent: 'stopped' }],
    ['Stopped (suspended)', { status: 'Stopped', intent: 'suspended' }],
    ['Stopping (suspended)', { status: 'Stopping', intent: 'suspended' }],
    ['Stopped (intent: running)', { status: 'Stopped' }],
    ['Stopped (suspended, cordoned)', { status: 'Stopped', intent: 'suspended', admission: 'cordoned' }],
    ['Unhealthy (restart in 4s)', { status: 'Unhealthy', nextRestartAt: NOW + 4000 }],
    ['Unhealthy (restart due)', { status: 'Unhealthy', nextRestartAt: NOW }],
    ['Paused (superseded)', { status: 'Paused', superseded: true }],
  ] as const)('%s', (text, over) => {
    expect(statusText(agent(over), NOW)).toBe(text)
  })
})

describe('the fleet', () => {
  it('is a line on the host, the counts, and a table', () => {
    const agents = [
      agent({ id: 'clerk', mailbox: { ...agent().mailbox, capacity: 64 } }),
      agent({
        status: 'Paused',
        phase: 'PAUSED',
        admission: 'cordoned',
        pausedBy: 'operator',
        reason: 'moving house',
        mailbox: { depth: 256, capacity: 256, inFlight: 0, oldestAgeMs: 3000, dropped: 44, ignored: 0 },
      }),
      agent({ id: 'reader', status: 'Stopped', phase: 'STOPPED', intent: 'suspended', instance: null, restarts: 3 }),
    ]
    expect(fleetLines(fleet(agents), PLAIN)).toEqual([
      'holt 0.1.0, pid 4242, up 2m 5s, state :memory:',
      '3 agents: 1 Running, 1 Paused, 1 Stopped',
      '',
      'ID         STATUS               PHASE    RESTARTS  MAILBOX  UPTIME',
      'clerk      Running              ACTIVE          0     0/64     12s',
      'librarian  Paused               PAUSED          0  256/256     12s',
      'reader     Stopped (suspended)  STOPPED         3    0/256       -',
      '',
      'librarian: paused by operator (moving house), 44 dropped',
    ])
  })

  it('without agents says so', () => {
    expect(fleetLines(fleet([]), PLAIN)).toEqual(['holt 0.1.0, pid 4242, up 2m 5s, state :memory:', 'no agents'])
  })

  it('is never wider than the terminal, however long the names', () => {
    const long = agent({
      id: 'a'.repeat(63),
      status: 'Unhealthy',
      phase: 'STOPPING',
      intent: 'suspended',
      admission: 'cordoned',
      restarts: 123_456,
      pausedBy: 'b'.repeat(200),
      mailbox: { depth: 100_000, capacity: 100_000, inFlight: 1, oldestAgeMs: 1, dropped: 1, ignored: 1 },
    })
    for (const width of [20, 40, 80, 200])
      for (const line of fleetLines(fleet([long]), { width, colour: false }))
        expect(widthOf(line)).toBeLessThanOrEqual(width)
    expect(fleetLines(fleet([long]), PLAIN)[4]).toBe(
      'aaaaaaaaaaaaaaaaa…  Unhealthy (suspe…  STOPPING    123456  100000/100000     12s',
    )
  })
})

describe('the list', () => {
  it('has names, versions and supervisors', () => {
    expect(listLines([agent(), agent({ id: 'reader', name: 'Reader', status: 'Unhealthy' })], NOW, PLAIN)).toEqual([
      'ID         NAME       VERSION  STATUS     SUPERVISOR',
      'librarian  Librarian  1.0.0    Running    root',
      'reader     Reader     1.0.0    Unhealthy  root',
    ])
  })
})
