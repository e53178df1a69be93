/** `holt down`: ends the host, and waits until its process has gone. */
import type { ShutdownReport } from '../host/shutdown.ts'
import { HoltError } from '../model/error.ts'
import type { Forecast } from '../model/forecast.ts'
import { forecastLines } from './format/answer.ts'
import { clean, type Look, wrap } from './format/text.ts'
import type { Run } from './invocation.ts'

/** A process that has nothing left to host takes no longer to end; one that goes on is a program of its own. */
const PROCESS_END_MS = 5000

export const down: Run = async ({ options, client, io, print }) => {
  const connection = await client()
  const { timeoutMs, dryRun, abort } = options
  if (dryRun === true) {
    const would = (await connection.shutdown({ dryRun })) as Forecast
    await print(would, (look) => forecastLines(would, look))
    return undefined
  }
  if (abort === true && timeoutMs !== undefined)
    throw new HoltError('InvalidOption', 'expected --abort or --timeout-ms, found both: --abort leaves no time')
  const { host } = await connection.status()
  const report = (await connection.shutdown({ timeoutMs: abort === true ? 0 : timeoutMs })) as ShutdownReport
  const ended = await io.hasEnded(host.pid, PROCESS_END_MS)
  await print(report, (look) => reportLines(report, host.pid, ended, look))
  return undefined
}

function reportLines({ killed, stuck }: ShutdownReport, pid: number, ended: boolean, look: Look): string[] {
  const agents = killed.length === 0 && stuck.length === 0 ? ', every agent ended in time' : ''
  const named = (what: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : wrap(clean(`${what}: ${ids.join(', ')}`), look.width, '  ', '')
  return [
    ended
      ? `the host (pid ${pid}) has gone${agents}`
      : `the host has ended${agents}; process ${pid} goes on without it`,
    ...named('killed past the deadline', killed),
    ...named('could not be stopped', stuck),
  ]
}
