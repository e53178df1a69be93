/** `npm start`, as one runs it after a clone: a signal to npm ends the host, and leaves no process behind. */
import { cp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { ROOT } from '../source-graph.ts'
import { descendants, folder, isRunning, start } from './processes.ts'

/** A copy that may be built while other tests use the build of the original. */
async function copy(): Promise<string> {
  const dir = await folder()
  for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts', 'src', 'examples'])
    await cp(join(ROOT, name), join(dir, name), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  await writeFile(join(dir, 'examples/librarian/agents/walker/.env'), 'LIBRARY=documents\n')
  return dir
}

it.each(['SIGTERM', 'SIGINT'] as const)(
  'npm start builds, hosts the example, and ends on %s to npm',
  async (signal) => {
    const npm = await start('npm', ['start'], { cwd: await copy() })
    await npm.says('ready: ask with')
    const below = descendants(npm.pid)
    npm.kill(signal)
    // Settles when the last process that shares npm's output has ended.
    await npm.ended
    expect(npm.stderr()).toContain(`host is shutting down (${signal})`)
    expect(npm.stderr()).toContain('host stopped, every agent ended in time')
    await eventually(
      () => !below.some(isRunning),
      () => `no process below npm is left: ${below.filter(isRunning).join(', ')}`,
    )
  },
  120_000,
)
