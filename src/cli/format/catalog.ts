/** What is installed as a table, and what came of an install or an uninstall. */
import type { CatalogItem, InstallAnswer, UninstallAnswer } from '../../host/catalog-answers.ts'
import { statusColour } from './colour.ts'
import { type Cell, type Column, table } from './table.ts'
import { clean, type Look, wrap } from './text.ts'
import { dayAndTime } from './time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'NAME', least: 8 },
  { title: 'VERSION', least: 7 },
  { title: 'RUNS', least: 7 },
  { title: 'STATUS', least: 8 },
  { title: 'INSTALLED (UTC)' },
  { title: 'FROM', least: 10 },
]

export function catalogLines(items: readonly CatalogItem[], look: Look): string[] {
  if (items.length === 0) return ['nothing is installed']
  const rows = items.map(({ name, version, runningVersion, status, installedAt, source }): Cell[] => [
    name,
    version,
    runningVersion ?? '-',
    status === null ? 'not loaded' : { text: status, colour: statusColour(status) },
    dayAndTime(installedAt),
    source,
  ])
  const faults = items.flatMap(({ name, fault }) => (fault === null ? [] : said(`${name}: ${fault}`, look)))
  return [...table(COLUMNS, rows, look), ...(faults.length === 0 ? [] : ['', ...faults])]
}

export function installLines(answer: InstallAnswer, look: Look): string[] {
  const { name, version, change, replaced, dir, files, bytes, leftOut, dryRun } = answer
  if (change === 'none') return said(`${name} ${version} is installed already, with the same files`, look)
  const done = dryRun ? 'would be installed' : 'is installed'
  const place = replaced === null ? '' : `, in place of ${replaced}`
  return [
    ...said(`${name} ${version} ${done}${place}: ${counted(files, 'file')}, ${counted(bytes, 'byte')}`, look),
    ...hint(`files: ${dir}`, look),
    ...(leftOut.length === 0 ? [] : hint(`left out: ${leftOut.join(', ')}`, look)),
    ...(leftOut.some(isSecret)
      ? hint(`secrets are not copied: what the agent needs belongs into ${dir}/.env`, look)
      : []),
    ...next(answer).flatMap((text) => hint(text, look)),
  ]
}

const isSecret = (path: string): boolean => /(?:^|\/)\.env(?:\.[^/]*)?$/.test(path)

/** How it stands, and what takes the new files. */
function next({ name, version, change, runsOn, starts, notStarted, dryRun }: InstallAnswer): string[] {
  if (notStarted !== null) return [`not started: ${notStarted}`]
  if (starts) return [dryRun ? 'would be started' : 'started']
  if (runsOn !== null) return [`${runsOn} runs on; what takes ${version}: holt stop ${name}, then holt start ${name}`]
  return [change === 'replaced' ? `what takes it: holt start ${name}` : `not started: holt start ${name}`]
}

export function uninstallLines({ name, version, agent, removed, dryRun }: UninstallAnswer, look: Look): string[] {
  const { files, messages, memoryKeys, sessions } = removed
  const kept = [
    counted(files, 'file'),
    counted(messages, 'message'),
    counted(memoryKeys, 'memory key'),
    counted(sessions, 'session'),
  ]
  return [
    ...said(`${name} ${version} ${dryRun ? 'would be' : 'is'} uninstalled, with ${kept.join(', ')}`, look),
    ...(agent ? [] : hint(`agent '${name}' of holt.yml is another, and keeps all it has`, look)),
  ]
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const said = (text: string, look: Look): string[] => wrap(clean(text), look.width, '  ', '')
const hint = (text: string, look: Look): string[] => wrap(clean(text), look.width, '    ', '  ')
