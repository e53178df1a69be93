/** Whether one more agent starts: every combination of what there is, what it takes and what is to stay free. */
import { describe, expect, it } from 'vitest'
import { costMb, LEAST_COST_MB, noRoom, type RoomCase } from '../../src/model/room.ts'

const CASE: RoomCase = { agent: 'a', availableMb: 1000, minFreeMb: 128, grownMb: 0, threads: 0, heapMb: 64 }

describe('what one more agent takes', () => {
  it.each([
    ['nothing is known yet', 0, 0, 64, LEAST_COST_MB],
    ['the process has shrunk', -50, 4, 64, LEAST_COST_MB],
    ['the others take little', 20, 4, 64, LEAST_COST_MB],
    ['the others take more', 80, 4, 64, 20],
    ['its own heap may not be so large', 4000, 4, 64, 64 + LEAST_COST_MB],
    ['its heap is small', 4000, 4, 8, 8 + LEAST_COST_MB],
  ])('%s: grown by %i MB over %i threads, a heap of %i MB: %i MB', (_, grownMb, threads, heapMb, expected) => {
    expect(costMb({ grownMb, threads, heapMb })).toBe(expected)
  })
})

describe('room', () => {
  const available = [null, 0, 7.9, 8, 135.9, 136, 137, 1e6]
  const keepFree = [0, 1, 128, 1000]
  const grown = [0, 100]

  it('there is where what is left covers the need and what is to stay free, or where nothing is looked at', () => {
    for (const availableMb of available)
      for (const minFreeMb of keepFree)
        for (const grownMb of grown) {
          const asked = { ...CASE, availableMb, minFreeMb, grownMb, threads: 2 }
          const needMb = grownMb === 0 ? 8 : 50
          const hasRoom = minFreeMb === 0 || availableMb === null || availableMb >= needMb + minFreeMb
          expect([asked, noRoom(asked) === null]).toEqual([asked, hasRoom])
        }
  })

  it('that is lacking is told with what was asked, what there is, and what to do', () => {
    expect(noRoom({ ...CASE, availableMb: 130.7, grownMb: 25, threads: 2 })).toEqual({
      needMb: 13,
      availableMb: 130,
      minFreeMb: 128,
      text: "agent 'a' needs about 13 MB, and 128 MB are to stay free (minFreeMb): the machine has 130 MB left. Stop other agents, give the host more memory, or lower minFreeMb in holt.yml",
    })
  })
})
