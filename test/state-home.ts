/** For all tests: the states of fleets whose hosts name no place go to a folder that ends with the run. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function setup(): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'holt-states-'))
  process.env['XDG_STATE_HOME'] = home
  return () => rm(home, { recursive: true, force: true, maxRetries: 5 })
}
