/** Where things are on disk: Holt's own contract modules, and the folder compiled roles go to. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
