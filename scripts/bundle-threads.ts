/** Bundles the entries that run in threads of their own. Called by the build and before the tests. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

export async function bundleThreads(outdir: string): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: {
      'thread/main': source('thread/main.ts'),
      'capabilities/pool-worker': source('capabilities/pool-worker.ts'),
    },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: 'thread/[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // What the thread needs of the host's packages is bundled in, or imported only when used.
    minifySyntax: true,
    legalComments: 'none',
    // Comlink's main is UMD, whose names an import cannot see.
    mainFields: ['module', 'main'],
    write: false,
  })
  await Promise.all(outputFiles.map(({ path, contents }) => replace(path, contents)))
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
