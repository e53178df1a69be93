/**
 * What a thread does while nobody waits for it: the platform's own parts that a boot needs are loaded at their first
 * use, some milliseconds in all. In a spare this is over long before its first message comes.
 */
import { prove } from '../platform/proof.ts'

/** A module without a line; as a value, since it is none of ours to be resolved at build time. */
const NOTHING: string = 'data:text/javascript,'

export function warmUp(): void {
  // A stack names the lines that were written, not those of the bundle.
  process.setSourceMapsEnabled(true)
  prove({ credential: '', nonce: '', instance: '', epoch: 0 })
  performance.eventLoopUtilization()
  // The loader of modules.
  void import(NOTHING)
}
