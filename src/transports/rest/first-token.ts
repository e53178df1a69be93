/**
 * The first token of a state: made when REST is served and there is none, so that nobody has to choose between an open
 * port and a closed door. Shown once in the log, and kept in a file of the state directory that its owner alone may read.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Host } from '../../host/host.ts'

/** In the state directory. */
export const FIRST_TOKEN_FILE = 'admin.token'

export async function ensureToken(host: Host): Promise<void> {
  if (host.tokens.list().length > 0) return
  const { token, id } = await host.tokens.create({ name: 'first', access: 'admin' })
  const { stateDir } = host.fleet().host
  const file = stateDir === ':memory:' ? null : join(stateDir, FIRST_TOKEN_FILE)
  if (file !== null) {
    // One that is left of a state before this one might be open to others.
    await rm(file, { force: true })
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' })
  }
  const kept = file === null ? 'it is gone with this host' : `kept in ${file}`
  host.log.warn(
    { kind: 'rest.token', tokenId: id },
    `the first token, with admin access, shown this once (${kept}): ${token}`,
  )
}
