/**
 * Paths in a manifest: relative to the folder of the manifest, inside the fleet's folder also behind symbolic links,
 * and there. Called by the loaders. Looks and never writes.
 */
import { readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { describe, type Finding, quoted } from './fault.ts'
import { systemCode } from './read-file.ts'

/** The folder that nothing may leave. */
export interface Root {
  readonly dir: string
  /** The same with links followed. */
  readonly real: string
}

export type Located =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly path: string; readonly finding: Finding }

const MODULE = /\.(?:ts|mts|js|mjs)$/
const NO_ROLE = /\.(?:d|test)\.[a-z]+$/
const DRIVE = /^[A-Za-z]:/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const BAD_CHARACTER = /[\u0000-\u001f\u007f\\]/

export const isModule = (name: string): boolean => MODULE.test(name) && !NO_ROLE.test(name)

export async function openRoot(dir: string): Promise<Root> {
  const absolute = resolve(dir)
  // A folder that does not exist has nothing in it: what is looked for inside will be told as missing.
  return { dir: absolute, real: await realpath(absolute).catch(() => absolute) }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const EXPECTED = { file: 'a file inside the fleet', folder: 'a folder inside the fleet' } as const

/** @param from the folder that `path` is relative to */
export async function locate(root: Root, from: string, path: string, kind: 'file' | 'folder'): Promise<Located> {
  const absolute = BAD_CHARACTER.test(path) ? from : resolve(from, path)
  const refuse = (found: string, hint?: string): Located => ({
    ok: false,
    path: absolute,
    finding: { expected: EXPECTED[kind], found, ...(hint === undefined ? {} : { hint }) },
  })
  if (BAD_CHARACTER.test(path)) return refuse(describe(path), 'write it with / and without control characters')
  if (isAbsolute(path) || DRIVE.test(path)) {
    return refuse(`the absolute path ${quoted(path)}`, 'write it relative to the folder of the manifest')
  }
  const leaves = `${quoted(path)}, which leaves ${root.dir}`
  const inside = isInside(root.dir, absolute)
  try {
    if (!isInside(root.real, await realpath(absolute))) return refuse(inside ? `${leaves} by a link` : leaves)
    const stats = await stat(absolute)
    if (kind === 'folder' ? !stats.isDirectory() : !stats.isFile()) {
      return refuse(`${quoted(path)}, which is ${stats.isDirectory() ? 'a folder' : 'no folder and no plain file'}`)
    }
  } catch (error) {
    const code = systemCode(error)
    if (!inside) return refuse(leaves)
    return refuse(code === 'ENOENT' || code === 'ENOTDIR' ? `nothing at ${absolute}` : `${quoted(path)} (${code})`)
  }
  return { ok: true, path: absolute }
}

/** A module named in a manifest. */
export async function locateModule(root: Root, from: string, path: string): Promise<Located> {
  const located = await locate(root, from, path, 'file')
  if (!located.ok || isModule(path)) return located
  const finding = { expected: 'a module (.ts, .mts, .js or .mjs)', found: quoted(path) }
  return { ok: false, path: located.path, finding }
}

/** The modules that count as roles where a manifest names none, in the order of their names. */
export async function modulesIn(dir: string, folder: string): Promise<string[]> {
  const names = await readdir(join(dir, folder)).catch(() => [])
  return names
    .filter(isModule)
    .toSorted()
    .map((name) => `${folder}/${name}`)
}
