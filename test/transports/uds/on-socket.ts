/** A server on a real socket in a folder of its own, with a played service, a clock that stands still, and its log. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createLog } from '../../../src/platform/log.ts'
import { FakeClock } from '../../../src/testkit/fake-clock.ts'
import type { Limits } from '../../../src/transports/uds/limits.ts'
import { listen, type UdsServer } from '../../../src/transports/uds/server.ts'
import { PlayedService } from '../played-service.ts'
import { RawClient } from '../raw-client.ts'

export interface OnSocket {
  readonly server: UdsServer
  readonly service: PlayedService
  readonly clock: FakeClock
  /** Messages of the log. */
  readonly log: string[]
  client(): RawClient
}

export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holt-uds-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Setting {
  readonly path?: string
  readonly limits?: Partial<Limits>
  readonly service?: PlayedService
}

/** Ended, and its clients with it, when the test is. */
export async function onSocket({
  path = join(ownFolder(), 's'),
  limits = {},
  service,
}: Setting = {}): Promise<OnSocket> {
  const played = service ?? new PlayedService()
  const clock = new FakeClock()
  const log: string[] = []
  const write = (line: string): void => void log.push((JSON.parse(line) as { msg: string }).msg)
  const server = await listen({ path, service: played, clock, limits, log: createLog('debug', { write }) })
  const clients: RawClient[] = []
  onTestFinished(async () => {
    for (const { socket } of clients) socket.destroy()
    const closed = server.close()
    clock.advance(60_000)
    await closed
  })
  return {
    server,
    service: played,
    clock,
    log,
    client() {
      const client = new RawClient(path)
      clients.push(client)
      return client
    },
  }
}
