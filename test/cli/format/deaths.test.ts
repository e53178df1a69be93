import { describe, expect, it } from 'vitest'
import { deathLines, decisionText, inFlightText, lastDeathLines } from '../../../src/cli/format/deaths.ts'
import { widthOf } from '../../../src/cli/format/text.ts'
import { PLAIN } from '../agents.ts'
import { death } from '../deaths.ts'

const decision = death().decision

describe('deaths', () => {
  it('are a table: when, who, why, what was in flight, what was decided', () => {
    const failed = death({
      agent: 'walker',
      cause: 'boot_failed',
      step: 'roles',
      inFlight: [],
      decision: { ...decision, attempt: 4, delayMs: 2100 },
    })
    const told = death({
      agent: 'clerk',
      cause: 'suspended',
      class: 'normal',
      inFlight: [],
      decision: { ...decision, rule: 'intent', action: 'none' },
    })
    expect(deathLines([death(), failed, told], PLAIN)).toEqual([
      'WHEN (UTC)      AGENT   CAUSE                IN FLIGHT  DECIDED',
      '07-30 12:03:04  reader  crash                read       restart 1 at once',
      '07-30 12:03:04  walker  boot_failed (roles)  -          restart 4 in 2s',
      '07-30 12:03:04  clerk   suspended            -          stays ended (intent)',
    ])
  })

  it('that nobody died are told too', () => {
    expect(deathLines([], PLAIN)).toEqual(['no deaths'])
  })

  it('are never wider than the terminal', () => {
    const long = death({
      agent: 'a'.repeat(63),
      cause: 'shutdown_timeout',
      inFlight: [{ ...death().inFlight[0]!, name: 'n'.repeat(99) }],
    })
    for (const line of deathLines([long], PLAIN)) expect(widthOf(line)).toBeLessThanOrEqual(80)
  })
})

describe('one death', () => {
  it('is a sentence with its error', () => {
    expect(lastDeathLines(death(), PLAIN, '    ', '  ')).toEqual([
      '  07-30 12:03:04 UTC crash: The encoded data was not valid for encoding utf-8;',
      '    restart 1 at once',
    ])
  })

  it.each([
    [{ ...decision, delayMs: 0 }, 'restart 1 at once'],
    [{ ...decision, attempt: 3, delayMs: 400 }, 'restart 3 in 400ms'],
    [{ ...decision, action: 'give_up', rule: 'restart_limit' }, 'gave up (restart_limit)'],
    [{ ...decision, action: 'none', rule: 'restart_type' }, 'stays ended (restart_type)'],
  ] as const)('was followed by %j: %s', (one, text) => {
    expect(decisionText(one)).toBe(text)
  })

  it('counts what was in flight under the same name', () => {
    expect(inFlightText([{ name: 'read' }, { name: 'find' }, { name: 'read' }])).toBe('read (2), find')
  })
})
