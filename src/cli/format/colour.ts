/** The few colours of the command, by what they say. Without colour a text stays as it is. */
import type { Status } from '../../model/canonical.ts'
import type { Level } from '../../model/fact.ts'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Colour = keyof typeof CODES

export const paint = (text: string, colour: Colour | undefined, on: boolean): string =>
  on && colour !== undefined ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text

const OF_STATUS: Readonly<Record<Status, Colour>> = {
  Starting: 'cyan',
  Running: 'green',
  Paused: 'yellow',
  Unhealthy: 'red',
  Stopping: 'cyan',
  Stopped: 'dim',
}

/** A newer host may have a status this table does not. */
export const statusColour = (status: string): Colour | undefined =>
  Object.hasOwn(OF_STATUS, status) ? OF_STATUS[status as Status] : undefined

const OF_LEVEL: Readonly<Record<Level, Colour | undefined>> = {
  debug: 'dim',
  info: undefined,
  warn: 'yellow',
  error: 'red',
}

export const levelColour = (level: string): Colour | undefined =>
  Object.hasOwn(OF_LEVEL, level) ? OF_LEVEL[level as Level] : undefined
