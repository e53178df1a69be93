/**
 * Agents to be installed: as folders, and as tarballs honest and hostile, written header by header so that nothing stands
 * between the test and the bytes. And hosts on a state directory, with threads that are none and a clock of the test's.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Header, type HeaderData, Pax } from 'tar'
import { onTestFinished } from 'vitest'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { createTestHost, type TestHost, type TestHostOptions } from '../../src/testkit/test-host.ts'

/** Text or bytes by path. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** A folder of its own, by its real path; gone when the test ends. */
export function tempFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'holt-catalog-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** The files of an agent: a manifest and a role that does nothing. */
export const agentFiles = (
  id: string,
  version = '1.0.0',
  more: Partial<AgentObject> = {},
  files: Files = {},
): Files => ({
  // JSON is YAML.
  'agent.yml': JSON.stringify({ id, name: id, version, ...more }),
  'roles/role.ts': `import { defineRole } from 'holt/role'\nexport default defineRole({ name: 'role', commands: { version: { handle: () => '${version}' } } })\n`,
  ...files,
})

export function writeFiles(dir: string, files: Files): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return dir
}

/** A folder with these files, of its own. */
export const packageFolder = (files: Files): string => writeFiles(join(tempFolder(), 'agent'), files)

/** One entry of a tarball: its header, and what follows it. */
export interface TarEntry extends HeaderData {
  readonly content?: string | Uint8Array
}

const BLOCK = 512

const padded = (bytes: Uint8Array): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])

/** The bytes of an entry; nothing is checked, nothing is left out. */
export function tarEntry({ content = '', ...data }: TarEntry): Buffer {
  const body = Buffer.from(content)
  const header = new Header({ mode: 0o644, mtime: new Date(0), type: 'File', size: body.length, ...data })
  const block = Buffer.alloc(BLOCK)
  const needsPax = header.encode(block, 0)
  const pax = needsPax ? new Pax({ path: data.path ?? '', linkpath: data.linkpath ?? '' }).encode() : Buffer.alloc(0)
  return Buffer.concat([pax, block, padded(body)])
}

export const TAR_END = Buffer.alloc(2 * BLOCK)

export const tarOf = (entries: readonly TarEntry[]): Buffer => Buffer.concat([...entries.map(tarEntry), TAR_END])

export const entriesOf = (files: Files, prefix = 'package/'): TarEntry[] =>
  Object.entries(files).map(([path, content]) => ({ path: prefix + path, content }))

/** Writes a tarball, gzipped unless its name ends in .tar. */
export function writeTarball(bytes: Uint8Array, name = 'agent.tgz'): string {
  const path = join(tempFolder(), name)
  writeFileSync(path, name.endsWith('.tar') ? bytes : gzipSync(bytes))
  return path
}

/** A tarball with the manifest and role of an agent first, then these. */
export const hostile = (...entries: readonly TarEntry[]): string =>
  writeTarball(tarOf([...entriesOf(agentFiles('greeter')), ...entries]))

/** Everything below a folder: files with content and mode, folders with mode, links by what they are. */
export function contentsOf(dir: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const { mode } = statSync(path)
    const what = entry.isFile() ? readFileSync(path, 'utf8') : entry.isDirectory() ? '/' : '->'
    found[path.slice(dir.length + 1)] = `${(mode & 0o777).toString(8)} ${what}`
  }
  return found
}

const NOBODY: TestHostOptions['fleet'] = { children: [] }

/** A host with these options and no agents of its own; it ends with the test, if it has not been ended before. */
export async function catalogHost(options: Partial<TestHostOptions> = {}): Promise<TestHost> {
  const kit = await createTestHost({ fleet: NOBODY, ...options })
  onTestFinished(() => kit.close())
  return kit
}

export const stateFolder = (): string => join(tempFolder(), 'state')

/** The folders of the catalog in a state directory, `agent/version`; and what is there besides. */
export function foldersOf(stateDir: string): string[] {
  const root = join(stateDir, 'catalog')
  try {
    return readdirSync(root)
      .flatMap((name) => readdirSync(join(root, name)).map((version) => `${name}/${version}`))
      .sort()
  } catch {
    return []
  }
}
