/** Agents and fleets as a host would answer, for what is made of them. */
import type { AgentSnapshot, FleetSnapshot } from '../../src/model/snapshot.ts'
import type { AgentDetail } from '../../src/model/view.ts'

/** 2026-07-30 12:03:04.567 UTC */
export const NOW = Date.UTC(2026, 6, 30, 12, 3, 4, 567)

export const PLAIN = { width: 80, colour: false } as const

export const agent = (over: Partial<AgentSnapshot> = {}): AgentSnapshot => ({
  id: 'librarian',
  name: 'Librarian',
  version: '1.0.0',
  phase: 'ACTIVE',
  status: 'Running',
  intent: 'running',
  admission: 'open',
  generation: 1,
  isolation: 'thread',
  supervisor: 'root',
  axes: { desiredStatus: 'running', identityVerified: true, acceptingWork: true, health: 'good', alive: true },
  healthCause: null,
  unkillable: false,
  superseded: false,
  activity: 'idle',
  instance: { id: 'i-1', epoch: 3, startedAt: NOW - 12_000, uptimeMs: 12_000 },
  restarts: 0,
  nextRestartAt: null,
  changedOnDisk: false,
  command: null,
  pausedSince: null,
  pausedBy: null,
  reason: null,
  mailbox: { depth: 0, capacity: 256, inFlight: 0, oldestAgeMs: null, dropped: 0, ignored: 0 },
  tasks: { received: 4, completed: 3, failed: 1 },
  heapUsedMb: 12.34,
  lastDeath: null,
  ...over,
})

export const detail = (over: Partial<AgentDetail> = {}): AgentDetail => ({
  ...agent(),
  equippedCompetencies: [{ name: 'search', events: ['document.added'], commands: ['find'], needs: ['text'] }],
  capabilities: [{ id: 'text', methods: ['terms'] }],
  invocationMetrics: {},
  channels: [],
  fenced: {},
  schedules: [],
  limits: {
    heapMb: 256,
    bootTimeoutMs: 10_000,
    stopTimeoutMs: 5000,
    pauseTimeoutMs: 5000,
    abortGraceMs: 1000,
    handlerTimeoutMs: 0,
    unresponsiveAfterMs: 5000,
    killAfterMs: 15_000,
  },
  ...over,
})

export const fleet = (agents: readonly AgentSnapshot[]): FleetSnapshot => {
  const counts: Record<string, number> = {}
  for (const { status } of agents) counts[status] = (counts[status] ?? 0) + 1
  return {
    host: {
      id: 'h-1',
      pid: 4242,
      version: '0.1.0',
      startedAt: NOW - 125_000,
      uptimeMs: 125_000,
      stateDir: ':memory:',
      stateFault: null,
    },
    agents,
    counts,
  }
}
