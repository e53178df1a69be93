/**
 * Ways to make a disk full for a test, as far as this machine has them: a small file system of its own, which needs the
 * right to mount, and a limit on how large a file of this process may become. Where neither is to be had, the tests of
 * the writer still fill a database by SQLite's own limit.
 */
import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { tempFolder } from './temp-store.ts'

export interface SmallDisk {
  readonly dir: string
  fill(): void
  free(): void
}

function succeeds(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const MEBIBYTES = 3

/** Null where this process may not mount. */
export function mountSmallDisk(): (SmallDisk & { readonly remountReadOnly: () => void }) | null {
  const dir = tempFolder()
  if (!succeeds('mount', '-t', 'tmpfs', '-o', `size=${MEBIBYTES}m,mode=700`, 'tmpfs', dir)) return null
  // Lazily: a closed connection lets its files go when its statements have been collected.
  onTestFinished(() => void succeeds('umount', '-l', dir))
  const filler = join(dir, 'filler')
  return {
    dir,
    fill: () => {
      const { bavail, bsize } = statfsSync(dir)
      writeFileSync(filler, Buffer.alloc(bavail * bsize))
    },
    free: () => rmSync(filler),
    remountReadOnly: () => void succeeds('mount', '-o', 'remount,ro', dir),
  }
}

/** Null where there is no such limit. A write past it fails as an I/O error. */
export function limitFileSize(bytes: number): SmallDisk | null {
  const limit = (to: string): boolean => succeeds('prlimit', `--pid=${process.pid}`, `--fsize=${to}`)
  if (process.platform !== 'linux' || !limit('unlimited:unlimited')) return null
  const free = (): void => void limit('unlimited:unlimited')
  onTestFinished(free)
  return { dir: tempFolder(), fill: () => void limit(`${bytes}:unlimited`), free }
}
