/**
 * Builds `dist/`: declarations and modules by TypeScript, then bundles of what must not pay for what it does not need: the
 * two files that run in threads of their own, and the command line.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleCli } from './bundle-cli.ts'
import { bundleThreads } from './bundle-threads.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

rmSync(`${root}dist`, { recursive: true, force: true })
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`], {
  stdio: 'inherit',
})
await bundleThreads(`${root}dist`)
await bundleCli(`${root}dist`)
chmodSync(`${root}dist/cli/main.js`, 0o755)
