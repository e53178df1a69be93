/** Stores in folders of their own, closed and gone when the test ends. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { HoltError } from '../../src/model/error.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoredBody } from '../../src/store/stored-body.ts'

/** A folder that goes when the test ends. */
export function tempFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'holt-store-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A path for a state directory that does not exist yet. */
export const tempState = (): string => join(tempFolder(), 'state')

/** An open store; closed when the test ends. Faults go to `faults`. */
export async function tempStore(options: Partial<StoreOptions> = {}, faults: HoltError[] = []): Promise<Store> {
  const store = await openStore({
    dir: ':memory:',
    clock: systemClock,
    onFault: (fault) => faults.push(fault),
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

/** The error a promise rejects with, or a call throws. */
export async function errorOf(call: () => unknown): Promise<HoltError> {
  try {
    await call()
  } catch (error) {
    return error as HoltError
  }
  throw new Error('expected an error, and there was none')
}

export const body = (value: unknown): StoredBody => ({ encoding: 'json', body: JSON.stringify(value) })
