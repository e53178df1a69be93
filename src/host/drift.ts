/**
 * Whether the files of the agents on disk are still those they run from: shown as `changedOnDisk`, and nothing else; only
 * a reload takes them up. A look costs a `stat` a file.
 */
import type { Agent } from '../actors/agent.ts'
import { haveChanged } from '../manifest/file-states.ts'
import type { Clock, Timer } from '../platform/clock.ts'

const EVERY_MS = 5000

export class Drift {
  readonly #agents: () => readonly Agent[]
  readonly #timer: Timer
  #looking: Promise<void> | null = null

  constructor(agents: () => readonly Agent[], clock: Clock) {
    this.#agents = agents
    this.#timer = clock.every(EVERY_MS, () => void this.look())
  }

  /** Looks at all of them now; two that ask at once share a look. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  close(): void {
    this.#timer.cancel()
  }

  async #look(): Promise<void> {
    for (const agent of this.#agents()) {
      const { prepared } = agent
      if (prepared === null || prepared.files.size === 0) continue
      const changed = await haveChanged(prepared.files)
      // It may have been given another version meanwhile.
      if (agent.prepared !== prepared || agent.changedOnDisk === changed) continue
      agent.changedOnDisk = changed
      agent.refresh()
    }
  }
}
