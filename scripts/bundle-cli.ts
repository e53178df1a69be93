/**
 * Bundles the command line: what a `holt status` loads is then a few files and not fifty. Only the rooms that a one-shot
 * command needs go in; all else stays the one copy in `dist/` that programs load too.
 */
import { rm } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const BUNDLED = /^(?:cli|transports\/(?:client|uds))\//

const oneCopyOfTheRest: Plugin = {
  name: 'one-copy-of-the-rest',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      const file = relative(SRC, resolve(dirname(importer), path))
      if (file.startsWith('..') || BUNDLED.test(file)) return undefined
      return { path: `../${file.replace(/\.ts$/, '.js')}`, external: true }
    })
  },
}

export async function bundleCli(dist: string): Promise<void> {
  await rm(`${dist}/cli`, { recursive: true })
  await build({
    entryPoints: { main: `${SRC}/cli/main.ts` },
    outdir: `${dist}/cli`,
    // Flat, so that the way to the rest is the same from each.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minify: true,
    plugins: [oneCopyOfTheRest],
    // For the packages in it that are CommonJS.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
  })
}
