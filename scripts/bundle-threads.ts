/** Bundles the entries that run in threads of their own. Called by the build and before the tests. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

const COMMON: BuildOptions & { write: false } = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  // What the thread needs of the host's packages is bundled in, or imported only when used.
  minifySyntax: true,
  legalComments: 'none',
  // Comlink's main is UMD, whose names an import cannot see.
  mainFields: ['module', 'main'],
  write: false,
}

/**
 * The bootstrap of a thread is CommonJS: it is read in one step, where an ES module is opened, read and closed by a pool of
 * the platform's, which leaves the file open when its thread is ended meanwhile.
 */
export async function bundleThreads(outdir: string): Promise<void> {
  const bundles = await Promise.all([
    build({
      ...COMMON,
      entryPoints: { 'thread/main': source('thread/main.ts') },
      outdir,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
    }),
    build({
      ...COMMON,
      entryPoints: { 'capabilities/pool-worker': source('capabilities/pool-worker.ts') },
      outdir,
      format: 'esm',
    }),
  ])
  await Promise.all(
    bundles.flatMap(({ outputFiles }) => outputFiles.map(({ path, contents }) => replace(path, contents))),
  )
}

/** Whole or not at all: a host of another test may be starting a thread from it at this moment. */
async function replace(path: string, contents: Uint8Array): Promise<void> {
  const present = await readFile(path).catch(() => undefined)
  if (present?.equals(contents)) return
  await mkdir(dirname(path), { recursive: true })
  const whole = `${path}.${process.pid}`
  await writeFile(whole, contents)
  await rename(whole, path)
}
