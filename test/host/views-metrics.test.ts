/** How often each handler was called and failed: exact over every kind of end, since the thread counts in shared memory. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

const COUNTED = role(
  `onError: 'crash',
  events: {
    boot() {},
    note() {},
    both() {},
    hold(cells) { return wait(cells) },
    throw() { throw new Error('no') },
    async later() { await null; throw new Error('later') },
    exit() { process.exit(3) },
    fill() { const heap: unknown[] = []; for (;;) heap.push({ small: heap.length, object: [heap.length] }) },
  },
  commands: {
    both: { handle: () => 'both' },
    ok: { handle: () => 'ok' },
    refuse: { handle() { throw new CommandError('not so') } },
  }`,
  AT_GATE,
)

const one = (manifest: Partial<AgentObject> = {}, text = COUNTED): Promise<Host> =>
  hostFleet({ agents: { hand: { role: text, manifest: { ...AT_ONCE, ...manifest } } }, supervisor: NO_BUDGET })

const counted = (host: Host): Record<string, [count: number, errors: number]> =>
  Object.fromEntries(
    Object.entries(host.detail('hand').invocationMetrics)
      .filter(([, { count }]) => count > 0)
      .map(([name, { count, errors }]) => [name, [count, errors]]),
  )

/** Has it die, and its next instance be past its boot event. */
async function dying(host: Host, event: string): Promise<void> {
  const before = host.deaths('hand').length
  host.agent('hand').tell(event)
  await eventually(
    () => host.deaths('hand').length > before && host.agent('hand').phase === 'ACTIVE',
    `after '${event}'`,
  )
  await host.agent('hand').ask('ok')
}

describe('calls and failures of handlers', () => {
  it('are counted by name, an event and a command of one name together', async () => {
    const host = await one()
    const hand = host.agent('hand')
    for (let n = 0; n < 100; n++) hand.tell('note')
    await hand.emit('both')
    await hand.ask('both')
    await expect(hand.ask('refuse')).rejects.toThrow('not so')
    await expect(hand.ask('no such command')).rejects.toMatchObject({ code: 'NoSuchCommand' })
    await hand.emit('no such event')
    expect(counted(host)).toEqual({ boot: [1, 0], note: [100, 0], both: [2, 0], refuse: [1, 1] })
    expect(Object.keys(host.detail('hand').invocationMetrics)).toEqual([
      ...['boot', 'note', 'both', 'hold', 'throw', 'later', 'exit', 'fill', 'ok', 'refuse'],
    ])
  })

  it('are exact over a crash, an exit, a kill, an end by memory, and restarts', async () => {
    const host = await one({ limits: { heapMb: 16 } })
    const hand = host.agent('hand')
    for (let n = 0; n < 50; n++) hand.tell('note')
    await dying(host, 'throw')
    await dying(host, 'later')
    await dying(host, 'exit')
    for (let n = 0; n < 50; n++) hand.tell('note')
    await hand.ask('ok')
    const gate = new Gate()
    hand.tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    await hand.kill()
    await eventually(() => hand.phase === 'ACTIVE', 'a restart')
    await dying(host, 'fill')
    await hand.restart()
    await hand.ask('ok')
    expect(counted(host)).toEqual({
      boot: [7, 0],
      note: [100, 0],
      throw: [1, 1],
      later: [1, 1],
      exit: [1, 0],
      ok: [6, 0],
      hold: [1, 0],
      fill: [1, 0],
    })
    await hand.stop()
    expect(counted(host)).toMatchObject({ note: [100, 0], boot: [7, 0] })
  })

  it('count what is aborted as a failure, and what goes on after a throw', async () => {
    const host = await one(
      {},
      COUNTED.replace("onError: 'crash'", "onError: 'continue'")
        .replace('wait(cells)', 'wait(cells, ctx.signal)')
        .replace('hold(cells)', 'hold(cells, ctx)'),
    )
    const hand = host.agent('hand')
    await hand.emit('throw')
    await hand.emit('later')
    const gate = new Gate()
    const emitted = hand.emit('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    await hand.pause({ now: true })
    expect(await emitted).toMatchObject({ fate: 'aborted' })
    expect(counted(host)).toEqual({ boot: [1, 0], throw: [1, 1], later: [1, 1], hold: [1, 1] })
    expect(hand.snapshot().tasks).toMatchObject({ failed: 3 })
  })

  it('has percentiles of what was measured, in milliseconds, and null for what was not', async () => {
    const host = await one()
    const hand = host.agent('hand')
    for (let n = 0; n < 100; n++) hand.tell('note')
    await hand.ask('ok')
    // A histogram comes by itself, on the port of control.
    await eventually(() => host.detail('hand').invocationMetrics['note']?.p50Ms != null, 'a histogram')
    const { note, throw: never } = host.detail('hand').invocationMetrics
    expect(never).toEqual({ count: 0, errors: 0, p50Ms: null, p95Ms: null, p99Ms: null })
    expect(note).toEqual({
      count: 100,
      errors: 0,
      p50Ms: expect.any(Number),
      p95Ms: expect.any(Number),
      p99Ms: expect.any(Number),
    })
    expect(note!.p50Ms).toBeLessThanOrEqual(note!.p95Ms!)
    expect(note!.p95Ms).toBeLessThanOrEqual(note!.p99Ms!)
  })
})
