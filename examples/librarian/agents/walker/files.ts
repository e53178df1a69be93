/** Where the Markdown is: every such file under some folders. Follows no symbolic link, so it ends. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const MARKDOWN = /\.(?:md|markdown)$/i

/** Each file once, folder after folder in the order given, sorted within it. What cannot be read is told and skipped. */
export async function listDocuments(
  folders: readonly string[],
  onUnreadable: (folder: string, error: unknown) => void,
): Promise<string[]> {
  const found = new Set<string>()
  for (const folder of folders) {
    const paths: string[] = []
    await collect(folder, paths, onUnreadable)
    for (const path of paths.sort()) found.add(path)
  }
  return [...found]
}

async function collect(folder: string, into: string[], onUnreadable: (folder: string, error: unknown) => void) {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    onUnreadable(folder, error)
    return []
  })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await collect(path, into, onUnreadable)
    else if (entry.isFile() && MARKDOWN.test(entry.name)) into.push(path)
  }
}

/** The nearest `node_modules` at or above a folder, or null. */
export function nearestNodeModules(folder: string): string | null {
  const here = join(folder, 'node_modules')
  if (existsSync(here)) return here
  const above = dirname(folder)
  return above === folder ? null : nearestNodeModules(above)
}
