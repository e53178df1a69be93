/**
 * Where things are on disk: Holt's own contract modules, the folder compiled roles go to, and the state of a fleet.
 */
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** From source the modules end in .ts, from the package in .js. */
const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

/** The files behind `holt/role` and `holt/capability`, bundled into every module of a fleet that imports them. */
export const contractFiles = (): { readonly 'holt/role': string; readonly 'holt/capability': string } => ({
  'holt/role': fileURLToPath(new URL(`../thread/role${ENDING}`, import.meta.url)),
  'holt/capability': fileURLToPath(new URL(`../capabilities/contract${ENDING}`, import.meta.url)),
})

/** A private folder (0700) of this process. */
export const privateFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'holt-'))

const NAME_LENGTH = 24
const HASH_LENGTH = 12

/**
 * The name that a fleet's own folders have in places shared by all fleets: that of its folder, and a hash of its real
 * path. The same for every way of writing the path.
 */
export function fleetFolderName(fleetDir: string): string {
  const real = realpathSync(fleetDir)
  const hash = createHash('sha256').update(real).digest('hex').slice(0, HASH_LENGTH)
  const name = basename(real)
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, NAME_LENGTH)
  return `${name}-${hash}`
}

/** What the place of a user's state depends on. */
export interface StateSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
  readonly home: string
}

const surroundings = (): StateSurroundings => ({ env: process.env, platform: process.platform, home: homedir() })

/**
 * The state directory of a fleet where nobody names one. Looks and never writes.
 *
 *     $XDG_STATE_HOME/holt/<name>-<hash>                          where that is an absolute path
 *     ~/.local/state/holt/<name>-<hash>                           elsewhere on Linux
 *     ~/Library/Application Support/holt/<name>-<hash>            on macOS
 *     %LOCALAPPDATA%\holt\<name>-<hash>, else ~\AppData\Local     on Windows
 */
export const stateFolder = (fleetDir: string, around: StateSurroundings = surroundings()): string =>
  join(stateHome(around), 'holt', fleetFolderName(fleetDir))

function stateHome({ env, platform, home }: StateSurroundings): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  const [named, fallback] =
    platform === 'win32'
      ? [env['LOCALAPPDATA'], join(home, 'AppData', 'Local')]
      : [env['XDG_STATE_HOME'], join(home, '.local', 'state')]
  // By its specification a relative path is to be ignored.
  return named !== undefined && isAbsolute(named) ? named : fallback
}
