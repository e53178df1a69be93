/**
 * What a manifest means where it is silent: one table for agent.yml and holt.yml, in their spelling. The schemas fill
 * from it, the hints read the names of the blocks from it. Plain data, nothing computed.
 */
import type { Unkillable } from '../model/agent-options.ts'
import type { Overflow } from '../model/mailbox-policy.ts'
import type { Backoff, RestartType, Shutdown } from './agent-manifest.ts'
import type { AutoShutdown, Strategy } from './fleet-manifest.ts'

const BACKOFF: Backoff = { minMs: 1000, maxMs: 300_000, factor: 2, jitter: 0.2 }

export const DEFAULTS = {
  version: '0.0.0',
  autostart: true,
  isolation: 'thread',
  mailbox: {
    capacity: 256,
    overflow: 'drop-newest' as Overflow,
    window: 4096,
    backlog: 65_536,
    concurrency: 1,
    redeliver: 0,
    durable: false,
  },
  limits: {
    heapMb: 64,
    bootTimeoutMs: 10_000,
    stopTimeoutMs: 5000,
    pauseTimeoutMs: 5000,
    abortGraceMs: 1000,
    handlerTimeoutMs: 0,
    unresponsiveAfterMs: 5000,
    killAfterMs: 15_000,
  },
  restart: {
    type: 'permanent' as RestartType,
    backoff: BACKOFF,
    stableMs: 10_000,
    maxRestarts: null as number | null,
    unkillable: 'wait' as Unkillable,
  },
  supervisor: {
    id: 'root',
    strategy: 'one_for_one' as Strategy,
    intensity: 3,
    periodMs: 5000,
    auto_shutdown: 'never' as AutoShutdown,
    maxChildren: null as number | null,
    backoff: BACKOFF,
  },
  /** A supervisor under another one. */
  nested: { restart: 'permanent' as RestartType, shutdown: 'infinity' as Shutdown },
  fleet: { spares: 0 },
} as const
