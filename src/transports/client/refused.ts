/** Why a socket could not be reached, in words that say what to do. Called with what the platform said. */
import { lstatSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { describeError, HoltError } from '../../model/error.ts'

const noHost = (path: string, text: string, reason: string): HoltError =>
  new HoltError('NoHost', text, { path, reason })

export function refusedBy(path: string, thrown: unknown): HoltError {
  const { code: reason = 'unknown', message } = describeError(thrown)
  switch (reason) {
    case 'ENOENT':
      return noHost(
        path,
        `no host answers at ${path}: there is no such socket. Does one run? \`holt up\` starts one`,
        reason,
      )
    case 'ECONNREFUSED':
      return noHost(path, `no host answers at ${path}: ${whatIsThere(path)}. \`holt up\` starts a host`, reason)
    case 'EACCES':
    case 'EPERM':
      return noHost(path, `${path} may not be opened: ${whose(path)}`, reason)
    case 'EAGAIN':
      return new HoltError('Overloaded', `the host at ${path} has no time for new clients now. Try again`, {
        path,
        reason,
      })
    default:
      return noHost(path, `no host answers at ${path} (${message})`, reason)
  }
}

export const lost = (path: string, text: string, reason: string): HoltError =>
  noHost(path, `not connected: ${path}: ${text}`, reason)

function whatIsThere(path: string): string {
  const stats = statsOf(path)
  return stats === null || stats.isSocket() ? 'nobody listens; its host seems to have ended' : 'it is no socket'
}

/** The file, or the first folder above it that can be seen. */
function whose(path: string): string {
  for (let place = path; ; place = dirname(place)) {
    const stats = statsOf(place)
    if (stats === null && place !== dirname(place)) continue
    const own = process.geteuid?.()
    const mode = ((stats?.mode ?? 0) & 0o777).toString(8)
    const owner = stats?.uid ?? 0
    if (owner === own) return `${place} is yours, and its mode ${mode} does not let you. Give it back with chmod`
    return (
      `${place} belongs to user ${owner} (mode ${mode}), and you are user ${own}. ` +
      'Run the command as that user, or set HOLT_UDS_PATH or --socket to the socket of your own host'
    )
  }
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}
