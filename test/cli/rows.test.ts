/** The rows of the CLI beside the table of operations. */
import { describe, expect, it } from 'vitest'
import { optionsOf } from '../../src/cli/program.ts'
import { ROWS } from '../../src/cli/rows.ts'
import { COMMANDS } from '../../src/model/intent.ts'
import { OPERATIONS } from '../../src/transports/operations.ts'

/** Operations that the CLI has under another name, or as a part of another command. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  shutdown: 'down',
  purge: 'mailbox',
  deadLetters: 'dead-letters',
  replay: 'dead-letters',
  discard: 'dead-letters',
  install: 'catalog',
  uninstall: 'catalog',
  reloadAll: 'reload',
  tokens: 'token',
  tokenCreate: 'token',
  tokenRevoke: 'token',
}
/** Commands of more than one operation: their usage is their own. */
const SEVERAL = ['mailbox', 'dead-letters', 'catalog', 'token', 'reload']
/** Commands that are no operation, or more than one. */
const OWN = ['up', 'down', 'drain', 'validate', 'attach', 'classify', 'top']

const operation = (name: string) => OPERATIONS.find((one) => one.name === name)!

describe('the commands', () => {
  it('are the operations, and the few of the command itself', () => {
    const operations = OPERATIONS.filter(({ cli }) => cli !== null).map(({ name }) => ELSEWHERE[name] ?? name)
    expect([...new Set([...operations, ...OWN])].sort()).toEqual(ROWS.map(({ name }) => name).sort())
  })

  it.each(ROWS.filter(({ name }) => !OWN.includes(name) && !SEVERAL.includes(name)))(
    '$name is written as its operation says',
    ({ name, usage, options = [] }) => {
      const { cli } = operation(name)
      const words = cli!.replaceAll(/ ?\[-[^\]]*\]/g, '')
      expect(usage).toBe(words)
      const flags = [...cli!.matchAll(/\[(-[^\]]*)\]/g)].map(([, flag]) => flag)
      const all = optionsOf(ROWS.find((row) => row.name === name)!).map((option) => option.flags)
      expect(flags.filter((flag) => !all.includes(flag!))).toEqual([])
      expect(options.map((option) => option.flags).filter((flag) => !flags.includes(flag))).toEqual([])
    },
  )

  it('have every command of the life cycle', () => {
    expect(COMMANDS.filter((name) => !ROWS.some((row) => row.name === name))).toEqual([])
  })

  it('each have an example that begins with their name', () => {
    expect(ROWS.filter(({ name, example }) => !`${example} `.startsWith(`${name} `))).toEqual([])
  })

  it('each have --json, and --socket where they have to do with a host', () => {
    for (const row of ROWS) {
      const flags = optionsOf(row).map((option) => option.flags)
      expect(flags).toContain('--json')
      expect(flags.includes('--socket PATH')).toBe(!['validate', 'classify'].includes(row.name))
      expect(new Set(flags).size).toBe(flags.length)
    }
  })
})
