/**
 * Builds `dist/`: declarations and modules by TypeScript, then the two files that run in threads of their own, each
 * bundled into one: a thread must not pay for what it does not need.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleThreads } from './bundle-threads.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

rmSync(`${root}dist`, { recursive: true, force: true })
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`], {
  stdio: 'inherit',
})
await bundleThreads(`${root}dist`)
if (existsSync(`${root}dist/cli/main.js`)) chmodSync(`${root}dist/cli/main.js`, 0o755)
