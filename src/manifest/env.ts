/**
 * The environment of an agent: its own `.env`, and the few variables of the host that any program needs. Called by the
 * host before a thread starts. Values are secrets: no refusal ever tells one.
 *
 * A `.env` is read line by line: `NAME=value`, `export` before it is allowed, `#` begins a comment at the start of a
 * line and, in a value without quotes, after white space. 'single' and `back` quotes take their text as it stands,
 * "double" ones know \n \r \t \\ \" \$; all three may run over several lines. Nothing is expanded. The last of two equal
 * names wins.
 */
import { join } from 'node:path'
import { decode } from './decode.ts'
import { parseEnvText } from './env-parser.ts'
import { type Fault, invalidManifest } from './fault.ts'
import { readSmallFile } from './read-file.ts'

export type Env = Record<string, string>

/** Without a prototype, so that a variable may be called `__proto__`. */
const empty = (): Env => Object.create(null)

/** @throws HoltError `InvalidManifest`, naming file and line of every fault and never a value */
export function parseEnv(content: string | Uint8Array, file: string): Env {
  const decoded = decode(typeof content === 'string' ? Buffer.from(content) : content)
  if (!decoded.ok) throw invalidManifest([{ file, field: '', ...decoded.refused }])
  const { entries, bad } = parseEnvText(decoded.text)
  if (bad.length > 0) throw invalidManifest(bad.map((one): Fault => ({ file, column: 1, field: '', ...one })))
  const env = empty()
  for (const { name, value } of entries) env[name] = value
  return env
}

/**
 * The `.env` of an agent's folder; nothing where there is none.
 * @throws HoltError `InvalidManifest`
 */
export async function loadEnv(dir: string): Promise<Env> {
  const file = join(dir, '.env')
  const read = await readSmallFile(file)
  if (read.ok) return parseEnv(read.bytes, file)
  if (read.missing) return empty()
  throw invalidManifest([{ file, line: null, column: null, field: '', ...read.finding }])
}

const FROM_HOST: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TEMP', 'TMP'],
  ...['NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'no_proxy'],
  // Without these little works on Windows.
  ...['Path', 'SYSTEMROOT', 'SystemRoot', 'WINDIR', 'windir', 'COMSPEC', 'ComSpec', 'PATHEXT', 'USERPROFILE'],
  ...['APPDATA', 'LOCALAPPDATA'],
])
const LOCALE = /^LC_[A-Z]+$/

/** What an agent sees as `process.env`: the host's variables of a fixed list, then its own on top; nothing else. */
export function threadEnv(base: NodeJS.ProcessEnv, own: Readonly<Env>): Env {
  const env = empty()
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && (FROM_HOST.has(name) || LOCALE.test(name))) env[name] = value
  }
  for (const [name, value] of Object.entries(own)) env[name] = value
  return env
}
