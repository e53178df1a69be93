/**
 * What a spare does while nobody waits for it: the platform's own parts that a boot needs are loaded at their first use,
 * some milliseconds in all. It is over long before its first message comes.
 */
import { prove } from './prove.ts'

/** A module without a line; as a value, since it is none of ours to be resolved at build time. */
const NOTHING: string = 'data:text/javascript,'

export function warmUp(): void {
  prove({ credential: '', nonce: '', instance: '', epoch: 0 })
  performance.eventLoopUtilization()
  process.getBuiltinModule('node:v8').getHeapSpaceStatistics()
  // The loader of modules.
  void import(NOTHING)
}
