/** What the exit code of a container says of its end. Codes above 128 are signals: 128 and the number of the signal. */
import type { DeathCause } from '../model/death.ts'
import { type End, endedBy } from './projection.ts'

/** Ended by a signal, as the shell and every container runtime write it. */
const OF_SIGNAL: Readonly<Record<number, DeathCause>> = {
  // SIGINT and SIGTERM are how one asks a process to end.
  130: 'shutdown',
  143: 'shutdown',
  137: 'killed',
  // SIGABRT, SIGBUS, SIGFPE, SIGSEGV: it broke.
  134: 'crash',
  135: 'crash',
  136: 'crash',
  139: 'crash',
}

/** @param told it had been told to stop: then it ended as asked, whatever its code */
export function endByCode(code: number | null, told: boolean): End {
  if (told) return endedBy('shutdown', code)
  if (code === null) return endedBy('undecidable')
  if (code === 0) return endedBy('normal', code)
  return endedBy(OF_SIGNAL[code] ?? 'exit', code)
}
