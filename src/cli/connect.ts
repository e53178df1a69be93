/** The way of the command to a host: where its socket is, and who calls. Loaded when a command needs it. */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { HoltError } from '../model/error.ts'
import { type Client, connect } from '../transports/client/client.ts'
import { findSocket } from '../transports/client/find-socket.ts'
import type { ConnectOptions } from './invocation.ts'

/** @throws HoltError `NoHost`; `InvalidOption` for a path that can be none */
export async function connectFrom(
  { socket, timeoutMs, host, token, tokenFile }: ConnectOptions,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Client> {
  // A socket that is named goes before a host that the environment names.
  const url = host ?? (socket === undefined ? env['HOLT_URL'] || undefined : undefined)
  if (url !== undefined) {
    if (socket !== undefined) throw new HoltError('InvalidOption', 'expected --socket or --host, found both')
    const { connectHttp } = await import('../transports/client/http.ts')
    return connectHttp({ url, token: tokenFrom({ token, tokenFile }, cwd, env), timeoutMs })
  }
  if (token !== undefined || tokenFile !== undefined)
    throw new HoltError('InvalidOption', '--token and --token-file go with --host or HOLT_URL; the socket takes none')
  const { path } = findSocket({ socket, cwd, env })
  return connect({ path, timeoutMs, who: userName() })
}

function tokenFrom(
  { token, tokenFile }: Pick<ConnectOptions, 'token' | 'tokenFile'>,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (token !== undefined && tokenFile !== undefined)
    throw new HoltError('InvalidOption', 'expected --token or --token-file, found both')
  if (tokenFile === undefined) return token ?? (env['HOLT_TOKEN'] || undefined)
  try {
    return readFileSync(resolve(cwd, tokenFile), 'utf8').trim()
  } catch (error) {
    throw new HoltError('InvalidOption', `--token-file: cannot read '${tokenFile}' (${(error as Error).message})`)
  }
}

/** As the host records it: `paused by …`. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A user without an entry, as in some containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
