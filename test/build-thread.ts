/** Before the tests: the bundles that run in threads are those of the present source. */
import { fileURLToPath } from 'node:url'
import { bundleThreads } from '../scripts/bundle-threads.ts'

export async function setup(): Promise<void> {
  await bundleThreads(fileURLToPath(new URL('../dist', import.meta.url)))
}
