/**
 * TypeScript and JavaScript modules to bundles that a thread can import: all files of one agent in one build, so that
 * they share what they share. Called by the host before a thread starts and for capabilities. The cache is by content:
 * a bundle that exists is never written again, one that changed gets a new URL, and nobody removes one that may be in
 * use.
 */
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build, type Message, type OutputFile, stop } from 'esbuild'
import { describeError, HoltError } from '../model/error.ts'
import { type HoltModules, type Inputs, PLACE_NAMES, sourcePlugin, stateOf } from './compile-plugin.ts'

export interface CompileOptions {
  /** Folder of the bundles; made when it is not there. */
  readonly cacheDir: string
  /** Folder that file names in the bundle are relative to. @default that of the first file */
  readonly fleetDir?: string
  /** Absolute paths of the modules behind `holt/role` and `holt/capability`. */
  readonly resolveHolt: HoltModules
  /**
   * A single file becomes CommonJS where it can: a thread reads that in one step, without the loader of ES modules (5 ms and
   * a quarter of a MB each). Not where it awaits at its top level, or asks `import.meta` for more than its place.
   * @default false
   */
  readonly commonJs?: boolean
}

export interface Compiled {
  /** As it was given. */
  readonly file: string
  /** What to import. */
  readonly url: string
}

interface Bundle {
  readonly compiled: readonly Compiled[]
  readonly dir: string
  readonly inputs: Inputs
}

/** Builds that run or have run in this process, by what was asked for. */
const bundles = new Map<string, Promise<Bundle>>()
/** Calls at work, so that equal ones share one look and one build. */
const inFlight = new Map<string, Promise<Bundle>>()

const HASH_LENGTH = 32

/**
 * Bundles `files` and answers with their URLs, in order. Rebuilds when any file that went into the bundle has changed.
 * @throws HoltError `BootFailed` with file, line and column of each error
 */
export async function compileModules(files: readonly string[], options: CompileOptions): Promise<Compiled[]> {
  if (files.length === 0) return []
  const key = keyOf(files, options)
  let running = inFlight.get(key)
  if (running === undefined) {
    running = freshOrBuilt(key, files, options).finally(() => inFlight.delete(key))
    inFlight.set(key, running)
  }
  return [...(await running).compiled]
}

/** Every file that went into the newest bundle of these, and its state then; empty where there is none. */
export async function inputsOf(
  files: readonly string[],
  options: CompileOptions,
): Promise<ReadonlyMap<string, string>> {
  const bundle = await bundles.get(keyOf(files, options))?.catch(() => undefined)
  return bundle?.inputs ?? new Map()
}

const keyOf = (files: readonly string[], { cacheDir, fleetDir, resolveHolt, commonJs }: CompileOptions): string =>
  JSON.stringify([files, cacheDir, fleetDir, resolveHolt, commonJs])

/** Ends esbuild's process; the next build starts another. */
export async function stopCompiler(): Promise<void> {
  bundles.clear()
  await stop()
}

async function freshOrBuilt(key: string, files: readonly string[], options: CompileOptions): Promise<Bundle> {
  const known = await bundles.get(key)?.catch(() => undefined)
  if (known !== undefined && (await isFresh(known))) return known
  const built = buildBundle(files, options)
  bundles.set(key, built)
  return built
}

async function isFresh({ dir, inputs }: Bundle): Promise<boolean> {
  const unchanged = [...inputs].map(async ([file, state]) => (await stateOf(file)) === state)
  try {
    await access(dir)
    return (await Promise.all(unchanged)).every(Boolean)
  } catch {
    return false
  }
}

/** Of its entry in the bundle; the number keeps equal names in different folders apart. */
const entryName = (file: string, index: number): string => `${index}-${basename(file).replaceAll(/[^\w-]+/g, '-')}`

async function buildBundle(files: readonly string[], options: CompileOptions): Promise<Bundle> {
  const distinct = [...new Set(files)]
  const cacheDir = resolve(options.cacheDir)
  const inputs: Inputs = new Map()
  // Same depth as the final folder: source maps point to their sources by relative paths.
  const outdir = join(cacheDir, '0'.repeat(HASH_LENGTH))
  const outputs = await bundle(distinct, outdir, inputs, options)
  const dir = await publish(
    cacheDir,
    outputs.map(({ path, text }) => ({ name: basename(path), text: withoutUnused(files[0]!, text) })),
  )
  const ending = extname(outputs[0]!.path)
  const urlOf = (file: string): string =>
    pathToFileURL(join(dir, `${entryName(file, distinct.indexOf(file))}${ending}`)).href
  return { compiled: files.map((file) => ({ file, url: urlOf(file) })), dir, inputs }
}

async function bundle(files: readonly string[], outdir: string, inputs: Inputs, options: CompileOptions) {
  const absWorkingDir = resolve(options.fleetDir ?? dirname(files[0]!))
  const common = {
    entryPoints: files.map((file, index) => ({ in: file, out: entryName(file, index) })),
    absWorkingDir,
    outdir,
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    charset: 'utf8',
    logLevel: 'silent',
    define: PLACE_NAMES,
    plugins: [sourcePlugin(options.resolveHolt, inputs)],
  } as const satisfies BuildOptions
  const { cjs, esm } = requireFor(files[0]!)
  try {
    if (options.commonJs === true && files.length === 1) {
      const format = { format: 'cjs', outExtension: { '.js': '.cjs' }, banner: { js: cjs } } as const
      const result = await build({ ...common, ...format }).catch(() => null)
      if (result?.warnings.every(({ id }) => id !== 'empty-import-meta')) return result.outputFiles
    }
    // Whatever package.json stands above the cache, this ending is ESM.
    const format = { format: 'esm', splitting: true, outExtension: { '.js': '.mjs' }, banner: { js: esm } } as const
    const result = await build({ ...common, ...format })
    return result.outputFiles satisfies OutputFile[]
  } catch (error) {
    throw buildError(error, files, absWorkingDir)
  }
}

/**
 * `require` for bundled CommonJS that asks for a built-in module, as seen from the first entry. esbuild keeps that name
 * free at the top of every file, so a source that declares a `require` of its own is not disturbed.
 */
function requireFor(entry: string): { readonly cjs: string; readonly esm: string } {
  const from = JSON.stringify(pathToFileURL(entry).href)
  return {
    // As strict as the ES module that it is.
    cjs: `"use strict"; var require = require("node:module").createRequire(${from});`,
    esm: `import { createRequire as __holt_createRequire } from "node:module"; const require = __holt_createRequire(${from});`,
  }
}

/** A file that asks for nothing does without, in each thread; the line stays, so that no line number changes. */
function withoutUnused(entry: string, text: string): string {
  const { cjs, esm } = requireFor(entry)
  const banner = [cjs, esm].find((one) => text.startsWith(one))
  if (banner === undefined) return text
  const rest = text.slice(banner.length)
  if (/\brequire\b/.test(rest)) return text
  return banner === cjs ? `"use strict";${rest}` : rest
}

interface File {
  readonly name: string
  readonly text: string
}

/** Writes the files into the folder of their hash: whole or not at all, and never over one that is there. */
async function publish(cacheDir: string, files: readonly File[]): Promise<string> {
  const hash = createHash('sha256')
  for (const { name, text } of files) hash.update(`${name}\0${text}\0`)
  const dir = join(cacheDir, hash.digest('hex').slice(0, HASH_LENGTH))
  const exists = (): Promise<boolean> =>
    access(dir).then(
      () => true,
      () => false,
    )
  if (await exists()) return dir
  try {
    await mkdir(cacheDir, { recursive: true })
    const draft = await mkdtemp(join(cacheDir, 'new-'))
    try {
      for (const { name, text } of files) await writeFile(join(draft, name), text)
      await rename(draft, dir)
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      // Another process may have been first; content of one hash is the same.
      if (!(await exists())) throw error
    }
    return dir
  } catch (error) {
    const text = `Cannot write the bundle into ${cacheDir}: ${describeError(error).message}`
    throw new HoltError('BootFailed', text, { step: 'compile', cacheDir }, error)
  }
}

function buildError(error: unknown, files: readonly string[], workingDir: string): HoltError {
  const messages = error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors : []
  const errors = (messages as Message[]).map(({ text, location }) => ({
    file: location === null ? null : resolve(workingDir, location.file),
    line: location?.line ?? null,
    column: location === null ? null : location.column + 1,
    text,
  }))
  const lines = errors.map(({ file, line, column, text }) =>
    file === null ? text : `${file}:${line}:${column}: ${text}`,
  )
  const reason = lines.length > 0 ? lines.join('\n') : describeError(error).message
  return new HoltError(
    'BootFailed',
    `Cannot compile ${files.join(', ')}:\n${reason}`,
    { step: 'compile', errors },
    error,
  )
}
