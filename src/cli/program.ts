/**
 * The rows as a commander program. Commander reads the words and makes the help; what it has to complain of becomes an
 * error of our own, and nothing here writes or ends the process.
 */
import { Command, type CommanderError, Option } from 'commander'
import type { CommandRow, OptionRow } from './command-row.ts'
import type { Look } from './format/text.ts'
import type { Options } from './invocation.ts'
import { AGENT_ROWS, HOST_OPTIONS, JSON_OPTION, ROWS, SOCKET_OPTION, TIMEOUT_OPTION } from './rows.ts'
import { checkWords, milliseconds, usageError, wholeNumber } from './usage.ts'

/** Help was asked for: its text, and nothing else is to be done. */
export class HelpShown extends Error {
  readonly text: string

  constructor(text: string) {
    super('help was shown')
    this.text = text
  }
}

/** Does what a command is for. */
export type Act = (row: CommandRow, words: readonly string[], options: Options) => Promise<void>

const SECTIONS = `
Exit codes: holt help exit-codes. Help on one command: holt help COMMAND.`

/** @param first the first word: where it names a command, that one alone is made, for each costs time */
export function buildProgram(act: Act, look: Look, first: string | undefined): Command {
  const program = new Command('holt')
  let text = ''
  const keep = (part: string): void => {
    text += part
  }
  program
    .configureOutput({
      writeOut: keep,
      writeErr: keep,
      getOutHelpWidth: () => look.width,
      getErrHelpWidth: () => look.width,
    })
    .configureHelp({
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
      subcommandTerm: (command) => [command.name(), usageOf(command)].filter(Boolean).join(' '),
      visibleArguments: () => [],
    })
    .usage('up [DIR]\n       holt COMMAND [ARGUMENTS]')
    .description('An agent host: long-lived agents in worker threads, under supervisors.')
    .option('-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', SECTIONS)
  overrideExit(program, () => text)
  const asked = ROWS.filter(({ name }) => name === first)
  for (const row of asked.length > 0 ? asked : ROWS) addCommand(program, row, 'holt', act, () => text)
  if (asked.length === 0) addGroups(program, act, () => text)
  return program
}

function addGroups(program: Command, act: Act, shown: () => string): void {
  const agent = program
    .command('agent')
    .usage('VERB ID')
    .description('the commands to agents, under the name of what they are about')
    .helpCommand(false)
    .helpGroup('Agents:')
  overrideExit(agent, shown)
  for (const row of AGENT_ROWS) addCommand(agent, row, 'holt agent', act, shown)
  // To be listed; run.ts has turned it into what it stands for.
  program
    .command('help')
    .usage('[COMMAND | exit-codes]')
    .description('help on a command, or what the exit codes mean')
    .helpGroup('The host:')
}

/** What follows the name of a command in the list: its words, without options. */
const usageOf = (command: Command): string => command.usage().replace(/ ?\[options\]$/, '')

function addCommand(parent: Command, row: CommandRow, prefix: string, act: Act, shown: () => string): void {
  const command = parent
    .command(row.name)
    .usage([row.usage, '[options]'].filter(Boolean).join(' '))
    .description(row.summary)
    .helpOption('-h, --help', 'print this help')
    .helpGroup(`${row.group}:`)
    .addHelpText('after', `\nExample: ${prefix} ${row.example}`)
    // Both are checked below, in words of ours.
    .allowExcessArguments(true)
    .argument('[words...]')
  for (const option of optionsOf(row)) command.addOption(optionFrom(option))
  overrideExit(command, shown)
  command.action((words: string[], options: Options) => {
    checkWords(`${prefix} ${row.name}`, row, words)
    return act(row, words, options)
  })
}

/** Its own, and those that every command has. */
export function optionsOf(row: CommandRow): OptionRow[] {
  const own = row.options ?? []
  const remote = row.remote === false ? [] : [SOCKET_OPTION, ...HOST_OPTIONS, TIMEOUT_OPTION]
  const more = row.name === 'up' ? [SOCKET_OPTION] : remote
  const taken = new Set(own.map(({ flags }) => flags))
  return [...own, ...more.filter(({ flags }) => !taken.has(flags)), JSON_OPTION]
}

function optionFrom({ flags, text, ms, count }: OptionRow): Option {
  const option = new Option(flags.replace(/ ([A-Z:]+)$/, ' <$1>'), text)
  if (count === true) return option.argParser((value) => wholeNumber(flags.split(' ')[0]!, value))
  return ms === true ? option.argParser((value) => milliseconds(flags.split(' ')[0]!, value)) : option
}

function overrideExit(command: Command, shown: () => string): void {
  command.exitOverride((error: CommanderError) => {
    if (HELP.has(error.code)) throw new HelpShown(shown())
    throw usageError(error, command)
  })
}

const HELP: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.help'])
