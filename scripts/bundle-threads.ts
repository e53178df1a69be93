/** Bundles the entries that run in threads of their own. Called by the build and before the tests. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

export async function bundleThreads(outdir: string): Promise<void> {
  await build({
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
  })
}
