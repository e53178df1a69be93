import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^holt$/, replacement: at('./src/index.ts') },
      { find: /^holt\/role$/, replacement: at('./src/thread/role.ts') },
      { find: /^holt\/testkit$/, replacement: at('./src/testkit/index.ts') },
      { find: /^holt\/capability$/, replacement: at('./src/capabilities/contract.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build-thread.ts', 'test/state-home.ts'],
    testTimeout: 30_000,
    maxWorkers: 2,
  },
})
