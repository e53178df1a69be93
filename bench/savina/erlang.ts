/** Erlang/OTP, where it is on the machine: compiles the module beside this file and reads what it prints. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Effort, Figures } from '../definition.ts'

/** Looked for and not tried: that would cost each child of the bench half a second. */
export const hasErlang = (): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, 'erl')))

export function erlang({ share }: Effort): Figures {
  const folder = mkdtempSync(join(tmpdir(), 'holt-savina-'))
  try {
    const source = fileURLToPath(new URL('./savina.erl', import.meta.url))
    const compile = `{ok, _} = compile:file("${source}", [{outdir, "${folder}"}]), halt(0).`
    execFileSync('erl', ['-noshell', '-eval', compile], { stdio: ['ignore', 'ignore', 'inherit'] })
    const run = `savina:main(["${share.toFixed(4)}"]).`
    const text = execFileSync('erl', ['-noshell', '-pa', folder, '-eval', run], { encoding: 'utf8' })
    const lines = text.trim().split('\n')
    return Object.fromEntries(lines.map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
