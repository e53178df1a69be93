/**
 * How a source file becomes part of a bundle: `holt/role` and `holt/capability` come from this package, what a file
 * knows of its own place stays true after it has moved into the cache, and native addons stay where they are. Also
 * notes every file that was read, from which compile.ts tells a bundle that is out of date. Called by compile.ts.
 */
import { readFile, stat } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Loader, OnResolveArgs, Plugin, PluginBuild } from 'esbuild'

/** The module behind each name that Holt itself provides. */
export type HoltModules = Readonly<Record<'holt/role' | 'holt/capability', string>>

/** File to what its state was before it was read. */
export type Inputs = Map<string, string>

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
}

/** Replaced in the syntax tree, so never in a text or where a file declares the name itself. */
export const PLACE_NAMES = {
  'import.meta.url': '__holt_url',
  'import.meta.filename': '__holt_file',
  'import.meta.dirname': '__holt_dir',
  __filename: '__holt_file',
  __dirname: '__holt_dir',
} as const

const SPEAKS_OF_PLACE = /import\.meta|__filename|__dirname/

/** Changes with every write to the file. */
export async function stateOf(file: string): Promise<string> {
  const { mtimeNs, ctimeNs, size, ino } = await stat(file, { bigint: true })
  return `${mtimeNs}:${ctimeNs}:${size}:${ino}`
}

/** The names of {@link PLACE_NAMES}, declared on the first line so that no line number changes. */
function withPlace(source: string, path: string): string {
  if (!SPEAKS_OF_PLACE.test(source)) return source
  const names = { __holt_url: pathToFileURL(path).href, __holt_file: path, __holt_dir: dirname(path) }
  const declared = Object.entries(names).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  const start = source.startsWith('#!') ? source.indexOf('\n') + 1 : 0
  return `${source.slice(0, start)}const ${declared.join(', ')}; ${source.slice(start)}`
}

/** Marks a resolve of the plugin's own, which must not come back to it. */
const OWN = Symbol('own resolve')

async function addon(build: PluginBuild, args: OnResolveArgs) {
  if (args.pluginData === OWN) return undefined
  const { path, importer, namespace, resolveDir, kind } = args
  const found = await build.resolve(path, { importer, namespace, resolveDir, kind, pluginData: OWN })
  return found.errors.length > 0 ? { errors: found.errors } : { path: found.path, external: true }
}

export function sourcePlugin(modules: HoltModules, inputs: Inputs): Plugin {
  return {
    name: 'holt-source',
    setup(build) {
      build.onResolve({ filter: /^holt\/(?:role|capability)$/ }, ({ path }) => ({
        path: path === 'holt/role' ? modules['holt/role'] : modules['holt/capability'],
      }))
      build.onResolve({ filter: /\.node$/ }, (args) => addon(build, args))
      build.onLoad({ filter: /\.(?:[cm]?[jt]s|[jt]sx)$/, namespace: 'file' }, async ({ path }) => {
        inputs.set(path, await stateOf(path))
        const contents = withPlace(await readFile(path, 'utf8'), path)
        return { contents, loader: LOADERS[extname(path)] ?? 'js', resolveDir: dirname(path) }
      })
      // Everything else (JSON, text) esbuild reads by itself; only its state is noted.
      build.onLoad({ filter: /.*/, namespace: 'file' }, async ({ path }) => {
        inputs.set(path, await stateOf(path))
        return undefined
      })
    },
  }
}
