/** `holt up --watch`, for development: a file that is saved has the agents that run from it reloaded. */
import { type FSWatcher, watch } from 'node:fs'
import type { Host } from '../host/host.ts'
import { systemClock, type Timer } from '../platform/clock.ts'

/** Editors write a file in several steps, and several files at once. */
const QUIET_MS = 100

/** Watches the folder of the fleet until it is closed. Says what it does in the log, and that it cannot where it cannot. */
export function reloadOnSave(host: Host): { close(): void } {
  const { log, fleetDir } = host
  let timer: Timer | null = null
  let busy: Promise<void> = Promise.resolve()
  const soon = (): void => {
    timer?.cancel()
    // One after the other: what is saved meanwhile is looked at afterwards.
    timer = systemClock.after(QUIET_MS, () => {
      busy = busy.then(() => reloadChanged(host))
    })
  }
  let watcher: FSWatcher | null = null
  try {
    watcher = watch(fleetDir, { recursive: true, persistent: false }, soon)
    watcher.on('error', (error) => log.warn({ error }, `${fleetDir} is watched no more: ${error.message}`))
  } catch (error) {
    log.warn(
      { error },
      `--watch: ${fleetDir} cannot be watched: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return {
    close() {
      timer?.cancel()
      watcher?.close()
    },
  }
}

async function reloadChanged(host: Host): Promise<void> {
  for (const id of await host.changedOnDisk()) {
    try {
      const { reload } = await host.reload(id, { by: 'holt up --watch' })
      if (reload.replaced) host.log.info({ agent: id, changed: reload.changed }, 'reloaded')
    } catch (error) {
      host.log.error({ agent: id }, error instanceof Error ? error.message : String(error))
    }
  }
}
