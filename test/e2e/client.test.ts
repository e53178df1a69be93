/** `holt/client` in a process of its own, its connection cut at random: every fact once, in order. Runs what was built. */
import { createServer, connect as dial, type NetConnectOpts, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { serve } from '../../src/transports/serve.ts'
import { ROOT } from '../source-graph.ts'
import { restHost } from '../transports/rest/rest-host.ts'
import { ownFolder } from '../transports/uds/on-socket.ts'
import { type Running, start } from './processes.ts'

vi.setConfig({ testTimeout: 120_000 })

const CUTS = Number(process.env['HOLT_CUTS'] ?? 50)
const SEED = Number(process.env['HOLT_SEED'] ?? 20_261)
const CLIENT = join(ROOT, 'dist/transports/client/connect.js')
const CHILD = join(ROOT, 'test/e2e/client-child.mjs')

/** From 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A relay that destroys its connections, after a random number of the bytes that come by, so many times. */
async function cutting(to: NetConnectOpts, at: string | null, random: () => number) {
  const state = { cuts: 0, quiet: false }
  const open = new Set<Socket>()
  const relay = createServer((near) => {
    const far = dial(to)
    let left = Math.floor(random() * 3000)
    const end = (): void => {
      open.delete(near)
      near.destroy()
      far.destroy()
    }
    open.add(near)
    for (const one of [near, far]) one.on('error', () => {}).on('close', end)
    near.pipe(far)
    far.on('data', (piece) => {
      left -= piece.length
      if (left >= 0 || state.quiet) return void near.write(piece)
      // A part of it comes through.
      near.write(piece.subarray(0, Math.floor(random() * piece.length)), end)
      state.cuts++
    })
  })
  await new Promise<void>((resolve) =>
    at === null ? relay.listen(0, '127.0.0.1', resolve) : relay.listen(at, resolve),
  )
  onTestFinished(() => {
    for (const one of open) one.destroy()
    relay.close()
  })
  return { state, port: (relay.address() as { port?: number }).port }
}

const told = (child: Running): { seq?: number; gap?: unknown; error?: string }[] =>
  child
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter((one) => typeof one === 'object')

describe.each(['socket', 'url'] as const)('a program by %s', (mode) => {
  async function following(since?: number) {
    const { host, server, tokens } = await restHost()
    const socket = join(ownFolder(), 's')
    const served = await serve(host, { socket })
    onTestFinished(() => served.close())
    const at = mode === 'socket' ? join(ownFolder(), 'r') : null
    const to = mode === 'socket' ? { path: socket } : { host: '127.0.0.1', port: server.port }
    const { state, port } = await cutting(to, at, seeded(SEED))
    const options = at === null ? { url: `http://127.0.0.1:${port}`, token: tokens.admin } : { socket: at }
    const child = await start('node', [CHILD, JSON.stringify({ client: CLIENT, options, since })])
    await child.says('following')
    return { host, child, state }
  }

  it(`has every fact once, in order, though it is cut ${CUTS} times`, async () => {
    const { host, child, state } = await following(0)
    for (let n = 0; state.cuts < CUTS; n++) {
      const before = { cuts: state.cuts, seen: told(child).length }
      await host.command('hand', n % 2 === 0 ? 'pause' : 'resume', { by: 'test' })
      await eventually(() => state.cuts > before.cuts || told(child).length > before.seen, 'a fact, or a cut')
    }
    state.quiet = true
    await eventually(() => told(child).at(-1)?.seq === host.cursor, 'the newest fact')
    const seqs = told(child).map(({ seq }) => seq)
    expect({ seed: SEED, seqs }).toEqual({ seed: SEED, seqs: Array.from({ length: host.cursor }, (_, n) => n + 1) })
  })

  it('is told that a cursor is of another log, and has all of this one', async () => {
    const { host, child, state } = await following(1_000_000)
    state.quiet = true
    await eventually(() => told(child).at(-1)?.seq === host.cursor, 'the newest fact')
    const [first, ...rest] = told(child)
    expect(first).toMatchObject({ gap: { since: 1_000_000 } })
    expect(rest.filter(({ gap }) => gap === undefined).map(({ seq }) => seq)).toEqual(
      Array.from({ length: host.cursor }, (_, n) => n + 1),
    )
  })
})
