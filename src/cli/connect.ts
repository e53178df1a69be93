/** The way of the command to a host: where its socket is, and who calls. Loaded when a command needs it. */
import { userInfo } from 'node:os'
import { type Client, connect } from '../transports/client/client.ts'
import { findSocket } from '../transports/client/find-socket.ts'
import type { ConnectOptions } from './invocation.ts'

/** @throws HoltError `NoHost`; `InvalidOption` for a path that can be none */
export async function connectFrom(
  { socket, timeoutMs }: ConnectOptions,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Client> {
  const { path } = findSocket({ socket, cwd, env })
  return connect({ path, timeoutMs, who: userName() })
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
