/**
 * What can be wrong with a state directory, as errors of Holt's own: SQLite's codes are read here and nowhere else.
 * Each message names the file, what was found and the next step.
 */
import { type ErrorCode, HoltError } from '../model/error.ts'

/** The kinds of fault of the state itself; a write that a table refuses for its own reasons is none of them. */
const STATE_CODES = [
  'StateInUse',
  'StateLocked',
  'StateFull',
  'StateUnwritable',
  'StateUnreadable',
  'StateCorrupt',
  'StateNewer',
  'StateMigrationFailed',
  'StateReplaced',
  'StateLogLost',
] as const satisfies readonly ErrorCode[]
export type StateCode = (typeof STATE_CODES)[number]

/** Why one write is refused while the state is well. */
export type RefusalCode = 'GenerationMismatch' | 'VersionMismatch' | 'ValueTooLarge' | 'StaleEpoch' | 'InvalidInput'

const STATE: ReadonlySet<string> = new Set(STATE_CODES)

export const stateFault = (
  code: StateCode,
  path: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): HoltError => new HoltError(code, message, { path, ...details }, cause)

export const refusal = (code: RefusalCode, message: string, details: Readonly<Record<string, unknown>>): HoltError =>
  new HoltError(code, message, details)

/** Whether it is the state that failed, and not one write that was refused. */
export const isStateFault = (error: unknown, code?: StateCode): error is HoltError =>
  error instanceof HoltError && (code === undefined ? STATE.has(error.code) : code === error.code)

/** SQLite's primary result codes (the low byte of an extended one). */
const SQLITE = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  authorisation: 23,
  notADatabase: 26,
} as const
/** The shared-memory file could not grow: how a full disk shows there. */
const IOERR_SHMSIZE = 4874
/** `SQLITE_CORRUPT`-like reads past the end of a file that was cut. */
const IOERR_SHORT_READ = 522

type Say = (path: string, text: string) => readonly [StateCode, string]

/** What to say of a file that is no whole database. */
export const damaged = (path: string, text: string): string =>
  `${path} is damaged, or no database (${text}). It is left as it is. Move it away to begin anew, put a backup in ` +
  `its place, or save what can be read: sqlite3 ${path} .recover`

const corrupt: Say = (path, text) => ['StateCorrupt', damaged(path, text)]

const full: Say = (path, text) => [
  'StateFull',
  `${path} could not grow: the disk is full (${text}). Make room; the next write is tried by itself`,
]

const SAY: ReadonlyMap<number, Say> = new Map<number, Say>([
  [SQLITE.full, full],
  [IOERR_SHMSIZE, full],
  [SQLITE.corrupt, corrupt],
  [SQLITE.notADatabase, corrupt],
  [IOERR_SHORT_READ, corrupt],
  [
    SQLITE.busy,
    (path) => [
      'StateLocked',
      `Another program keeps ${path} locked. End its transaction (a sqlite3 shell that was left open?), then try again`,
    ],
  ],
  [
    SQLITE.readOnly,
    (path, text) => [
      'StateUnwritable',
      `${path} cannot be written (${text}). Check the permissions of the file and its folder, and that the file system is not read-only`,
    ],
  ],
  [
    SQLITE.io,
    (path, text) => [
      'StateUnwritable',
      `Reading or writing ${path} failed (${text}). Check the disk, its quota and the kernel's log`,
    ],
  ],
  [
    SQLITE.cannotOpen,
    (path, text) => [
      'StateUnreadable',
      `${path} cannot be opened (${text}). Check that it and its folder exist and belong to the user who runs the host`,
    ],
  ],
])

const ALIASES: ReadonlyMap<number, number> = new Map([
  [SQLITE.locked, SQLITE.busy],
  [SQLITE.noMemory, SQLITE.io],
  [SQLITE.authorisation, SQLITE.cannotOpen],
])

const LOW_BYTE = 0xff

/** An error of the driver as one of ours where the state is at fault; every other error as it is. */
export function fromSqlite(error: unknown, path: string): unknown {
  const raw = rawCode(error)
  if (raw === null) return error
  const primary = raw & LOW_BYTE
  const say = SAY.get(raw) ?? SAY.get(ALIASES.get(primary) ?? primary)
  if (say === undefined) return error
  const [code, message] = say(path, error instanceof Error ? error.message : String(error))
  return stateFault(code, path, message, { sqlite: raw }, error)
}

function rawCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null
  const { rawCode: raw, message } = error as { rawCode?: unknown; message?: unknown }
  if (typeof raw === 'number') return raw
  // A connection that could not be made carries its code in the text alone.
  const [, digits] = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(String(message)) ?? []
  return digits === undefined ? null : Number(digits)
}
