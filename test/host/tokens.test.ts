/** Tokens: made, told by their secret, kept as hashes only, over the end of a host. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHost } from '../../src/host/boot.ts'
import type { Host } from '../../src/host/host.ts'
import { serve } from '../../src/transports/serve.ts'
import { role, writeFleet } from '../fleet-on-disk.ts'
import { ownFolder } from '../transports/uds/on-socket.ts'

async function withHost<T>(fleet: string, stateDir: string, work: (host: Host) => Promise<T>): Promise<T> {
  const host = await createHost({ fleet, stateDir, log: 'silent' })
  try {
    return await work(host)
  } finally {
    await host.shutdown()
  }
}

const smallFleet = () => writeFleet({ agents: { a: { role: role('events: {}') } } })

describe('tokens', () => {
  it('outlive the host, and nothing on disk has their secret', async () => {
    const fleet = await smallFleet()
    const stateDir = join(ownFolder(), 'state')
    const made = await withHost(fleet, stateDir, (host) => host.tokens.create({ name: 'ci', access: 'control' }))
    expect(made.token).toMatch(/^holt_[0-9a-f]{16}_[0-9a-f]{64}$/)
    const secret = made.token.slice(-64)
    for (const file of readdirSync(stateDir).map((name) => join(stateDir, name))) {
      if (statSync(file).isFile()) expect(readFileSync(file).includes(secret)).toBe(false)
    }
    await withHost(fleet, stateDir, async ({ tokens }) => {
      expect(tokens.check(made.token)).toMatchObject({ id: made.id, name: 'ci', access: 'control' })
      expect(tokens.list()[0]?.lastUsedAt).toBeTypeOf('number')
      await tokens.revoke(made.id)
      expect(tokens.check(made.token)).toBeNull()
    })
    await withHost(fleet, stateDir, async ({ tokens }) => expect(tokens.list()).toEqual([]))
  })

  it('begin with one for the owner, in a file of his own, where REST is served and there is none', async () => {
    const fleet = await smallFleet()
    const stateDir = join(ownFolder(), 'state')
    const file = join(stateDir, 'admin.token')
    const first = await withHost(fleet, stateDir, async (host) => {
      const said: string[] = []
      host.log.warn = ((_data: object, text: string) => void said.push(text)) as typeof host.log.warn
      const served = await serve(host, { rest: { port: 0 } })
      expect(served.socket).toBeNull()
      const token = readFileSync(file, 'utf8').trim()
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(said.filter((text) => text.includes(token))).toHaveLength(1)
      expect(host.tokens.check(token)).toMatchObject({ access: 'admin' })
      const answer = await fetch(`${served.rest?.url}/agents`, { headers: { Authorization: `Bearer ${token}` } })
      expect(answer.status).toBe(200)
      return token
    })
    await withHost(fleet, stateDir, async (host) => {
      const said: string[] = []
      host.log.warn = ((_data: object, text: string) => void said.push(text)) as typeof host.log.warn
      await serve(host, { rest: { port: 0 } })
      expect(host.tokens.list()).toHaveLength(1)
      expect(readFileSync(file, 'utf8').trim()).toBe(first)
      expect(said).toEqual([])
    })
  })
})
