/** What is left of memory, by the texts of the kernel. */
import { describe, expect, it } from 'vitest'
import { availableMb, type GroupFiles, readMemory } from '../../src/platform/memory.ts'

const MB = 2 ** 20
const meminfo = (mb: number): string =>
  `MemTotal:       24684120 kB\nMemFree:          100000 kB\nMemAvailable:   ${mb * 1024} kB\nBuffers:          2104 kB\n`
const group = (max: number | 'max', current: number, files = 0): GroupFiles => ({
  max: `${typeof max === 'number' ? max * MB : max}\n`,
  current: `${current * MB}\n`,
  stat: `anon 4096\nfile 9000\ninactive_anon 1\ninactive_file ${files * MB}\nactive_file 5\n`,
})
/** The group at the top, and any where there is no such controller. */
const NONE: GroupFiles = { max: '', current: '', stat: '' }

describe('what is left of memory', () => {
  it.each<[string, string, GroupFiles[], number | null]>([
    ['of the machine', meminfo(900), [], 900],
    ['of the machine, in groups without a limit', meminfo(900), [NONE, group('max', 300)], 900],
    ['of the group, where that has less', meminfo(900), [group(512, 300)], 212],
    ['of the machine, where the group has more', meminfo(100), [group(512, 300)], 100],
    ['of the narrowest of all groups above', meminfo(900), [NONE, group(400, 350), group(512, 300)], 50],
    ['with files that are given back', meminfo(900), [group(512, 500, 200)], 212],
    [
      'of a group of version 1, with files of those below it',
      meminfo(900),
      [{ ...group(512, 500), stat: `inactive_file 1\ntotal_inactive_file ${200 * MB}\n` }],
      212,
    ],
    ['of the machine, in a group of version 1 without a limit', meminfo(900), [group(8_796_093_022_207, 300)], 900],
    ['is all of a group that has files alone', meminfo(900), [group(512, 100, 200)], 512],
    ['is nothing in a group that is over its limit', meminfo(900), [group(512, 600)], 0],
    ['is not known from texts that do not say', 'MemTotal: 5 kB', [NONE, { max: 'x', current: '', stat: '' }], null],
  ])('%s', (_, text, groups, expected) => {
    expect(availableMb(text, groups)).toBe(expected)
  })

  it('is read on this machine, with what the process has', () => {
    const { availableMb: left, rssMb } = readMemory()
    expect(rssMb).toBeGreaterThan(10)
    if (process.platform === 'linux') expect(left).toBeGreaterThan(0)
  })
})
