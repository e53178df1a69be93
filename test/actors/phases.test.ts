/** The phase of one agent and those who wait for it. */
import { describe, expect, it } from 'vitest'
import { Phases } from '../../src/actors/phases.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { stateOf } from './tested-inbox.ts'

function fresh() {
  const clock = new FakeClock()
  const moves: string[] = []
  const phases = new Phases('a', 'STOPPED', clock, (from, to) => moves.push(`${from} ${to}`))
  return { clock, moves, phases }
}

describe('a phase', () => {
  it('moves where the table allows it, and is told', () => {
    const { phases, moves } = fresh()
    phases.move('BOOTING')
    phases.move('ACTIVE')
    expect([phases.current, moves]).toEqual(['ACTIVE', ['STOPPED BOOTING', 'BOOTING ACTIVE']])
  })

  it('stays where the table does not, and nobody is told', () => {
    const { phases, moves } = fresh()
    expect(() => phases.move('ACTIVE')).toThrow(expect.objectContaining({ code: 'InvalidTransition' }))
    expect([phases.current, moves]).toEqual(['STOPPED', []])
  })
})

describe('who waits for a phase', () => {
  it('waits for nothing where it is there', async () => {
    const { phases } = fresh()
    expect(await stateOf(phases.until(() => phases.current === 'STOPPED'))).toBeUndefined()
  })

  it('is told by the move that brings it, and leaves no timer', async () => {
    const { phases, clock } = fresh()
    const active = phases.until(() => phases.current === 'ACTIVE', 1000)
    phases.move('BOOTING')
    expect(await stateOf(active)).toBe('pending')
    phases.move('ACTIVE')
    expect(await stateOf(active)).toBeUndefined()
    expect(clock.timers).toBe(0)
  })

  it('is told when its time is up, by a clock that nobody can set', async () => {
    const { phases, clock } = fresh()
    const active = phases.until(() => phases.current === 'ACTIVE', 1000)
    clock.stepWall(7_200_000)
    clock.advance(999)
    expect(await stateOf(active)).toBe('pending')
    clock.advance(1)
    expect(await stateOf(active)).toBeUndefined()
  })
})
