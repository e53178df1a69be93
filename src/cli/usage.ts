/** What can be wrong with how a command is written, in words of our own. */
import type { Command, CommanderError } from 'commander'
import { HoltError } from '../model/error.ts'
import type { CommandRow } from './command-row.ts'

/** What commander has to complain of. */
export function usageError(error: CommanderError, command: Command): HoltError {
  const path = pathOf(command)
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n')
  const text = error.code === 'commander.unknownCommand' ? `there is no command '${command.args[0]}'` : capital(first)
  const hint = more.join(' ').replace(/^\(Did you mean (.*)\?\)$/, (_, name: string) => `did you mean '${name}'?`)
  return invalid(text, path, hint === '' ? undefined : hint)
}

/** @throws HoltError `InvalidOption` for words that are missing or too many */
export function checkWords(path: string, row: CommandRow, words: readonly string[]): void {
  const usage = row.usage.split(' ').filter(Boolean)
  const least = usage.filter((word) => !word.startsWith('[')).length
  if (words.length < least)
    throw invalid(`expected ${row.usage}, found ${words.length === 0 ? 'nothing' : words.join(' ')}`, path)
  if (words.length <= usage.length) return
  const most = usage.length === 0 ? 'no words' : usage.length === 1 ? `one ${row.words ?? 'id'} at most` : row.usage
  throw invalid(`expected ${most}, found ${words.length}: ${words.join(', ')}`, path)
}

const MAX_MS = 2_147_483_647

/** @throws HoltError `InvalidOption` */
export function milliseconds(flag: string, text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (ms >= 1 && ms <= MAX_MS) return ms
  throw new HoltError('InvalidOption', `${flag}: expected whole milliseconds from 1 to ${MAX_MS}, found '${text}'`)
}

/** @throws HoltError `InvalidOption` */
export function wholeNumber(flag: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(count)) return count
  throw new HoltError('InvalidOption', `${flag}: expected a whole number from 0, found '${text}'`)
}

function invalid(text: string, path: string, hint?: string): HoltError {
  const help = `see how it is written: ${path} --help`
  return new HoltError('InvalidOption', text, { next: hint === undefined ? help : `${hint}\n  ${help}` })
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function pathOf(command: Command): string {
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return names.join(' ')
}
