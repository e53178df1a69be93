/** A program of its own that embeds a host: for what only a whole process can show. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface ProgramEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const GIVE_UP_MS = 20_000
const HOST = new URL('../src/host/boot.ts', import.meta.url).href
const TSX = new URL('../node_modules/tsx/dist/esm/index.mjs', import.meta.url).href

/**
 * Runs the text as a module in which `createHost` is known, from source.
 * @param flags of node
 */
export async function runProgram(
  text: string,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ProgramEnd> {
  const dir = await mkdtemp(join(tmpdir(), 'holt-program-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'program.mjs')
  await writeFile(file, `import { createHost } from ${JSON.stringify(HOST)}\n${text}`)
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, timeout: GIVE_UP_MS }
    const child = execFile(process.execPath, [...flags, '--import', TSX, file], options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}
