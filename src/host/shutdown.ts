/**
 * The end of a host: reverse order, one deadline over all, and a report that names what did not end in time. Intents
 * are not touched.
 */
import type { Directory } from '../actors/directory.ts'
import type { Spares } from '../actors/spares.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { Report } from '../model/fact.ts'
import type { Clock } from '../platform/clock.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'

export interface ShutdownReport {
  readonly tookMs: number
  /** Agents whose threads were ended because their time was up. */
  readonly killed: readonly string[]
  /** Agents and capabilities that even that did not end: the platform cannot stop a thread inside a native call. */
  readonly stuck: readonly string[]
}

export interface ShutdownDeps {
  readonly clock: Clock
  readonly report: Report
  readonly root: Supervisor
  readonly directory: Directory
  readonly registry: Registry
  readonly spares: Pick<Spares, 'close' | 'running'>
  /** Last of all: timers, compiler, folders. */
  readonly release: () => Promise<void>
}

/** Capabilities are given at least this, when agents have used up the rest. */
const LEAST_MS = 500

export async function shutDown(deps: ShutdownDeps, timeoutMs: number, by: string): Promise<ShutdownReport> {
  const { clock, report, root, directory, registry, spares } = deps
  const began = clock.now()
  const deadline = began + timeoutMs
  report('host.stopping', { by, deadlineMs: timeoutMs })
  const { killed, stuck: ofTree } = await root.stop({ deadline, rule: 'host_shutdown', by })
  // Also those that were given up, whose agents have gone on, or gone.
  const running = new Set([...ofTree, ...spares.running()])
  for (const agent of directory.all()) {
    agent.inbox.fates.settleWhere(() => true, { fate: 'aborted', reason: 'the host shut down' })
    agent.close()
  }
  const controller = new AbortController()
  const timer = clock.after(Math.max(LEAST_MS, deadline - clock.now()), () => controller.abort())
  const capabilities = await registry.shutdown(controller.signal)
  timer.cancel()
  const stuck = [...running, ...capabilities.stuck]
  await spares.close()
  // The last fact, so that it is written down as well.
  report('host.stopped', { killed: [...killed], stuck })
  await deps.release()
  return { tookMs: Math.round(clock.now() - began), killed, stuck }
}
