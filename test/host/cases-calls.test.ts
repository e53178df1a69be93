/** Calls in flight: cancelled, timed out, cut short by restarts and kills; every one ends, and nothing is left behind. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

const SERVER = role(
  `events: { count() { counted++ } },
  commands: {
    echo: { handle: (n) => n },
    obey: { async handle(cells, ctx) { await wait(cells, ctx.signal); return 'obeyed' } },
    hold: { async handle({ cells, reply }) { await wait(cells); return reply } },
    only: { exclusive: true, async handle(cells) { await wait(cells); return 'only' } },
    counted: { handle: () => counted },
  }`,
  `${AT_GATE}\nlet counted = 0`,
)

async function server(manifest = AT_ONCE): Promise<AgentRef> {
  const host = await hostFleet({ agents: { server: { role: SERVER, manifest } }, supervisor: NO_BUDGET })
  return host.agent('server')
}

const outcome = (work: Promise<unknown>) => work.catch((error: { code: string }) => error.code)

/** Every ask at its gate. */
const at = (gate: Gate, count = 1): Promise<boolean> => eventually(() => gate.reached === count, `${count} at the gate`)

describe('cancel', () => {
  it('C034 one that waits and then the one that runs: the third runs, and the mailbox is empty', async () => {
    const ref = await server()
    const [first, second] = [new AbortController(), new AbortController()]
    const gate = new Gate()
    const asks = [
      outcome(ref.ask('obey', gate.cells, { signal: first.signal, timeoutMs: 20_000 })),
      outcome(ref.ask('echo', 2, { signal: second.signal })),
      outcome(ref.ask('echo', 3)),
    ]
    await at(gate)
    second.abort()
    first.abort()
    expect(await Promise.all(asks)).toEqual(['Aborted', 'Aborted', 3])
    await eventually(
      () => ref.snapshot().mailbox.depth === 0 && ref.snapshot().mailbox.inFlight === 0,
      'an empty mailbox',
    )
    expect(ref.deaths()).toEqual([])
  })

  it('before it is sent, it is not sent', async () => {
    const ref = await server()
    expect(await outcome(ref.ask('echo', 1, { signal: AbortSignal.abort() }))).toBe('Aborted')
    expect(ref.snapshot().tasks.received).toBe(0)
  })

  it('a handler that ignores the signal disturbs nobody: its reply is late and goes nowhere', async () => {
    const ref = await server()
    const gate = new Gate()
    const controller = new AbortController()
    const held = outcome(ref.ask('hold', { cells: gate.cells, reply: 1 }, { signal: controller.signal }))
    await at(gate)
    controller.abort()
    expect(await held).toBe('Aborted')
    const next = ref.ask('echo', 2)
    gate.open()
    expect(await next).toBe(2)
  })
})

describe('time-out', () => {
  it("C035 one caller's time-out leaves the other call alone", async () => {
    const ref = await server({ ...AT_ONCE, mailbox: { concurrency: 2 } })
    const gates = [new Gate(), new Gate()] as const
    const short = outcome(ref.ask('hold', { cells: gates[0].cells, reply: 1 }, { timeoutMs: 50 }))
    const long = ref.ask('hold', { cells: gates[1].cells, reply: 2 })
    await at(gates[0])
    await at(gates[1])
    expect(await short).toBe('Timeout')
    gates[1].open()
    expect(await long).toBe(2)
    gates[0].open()
    expect(ref.deaths()).toEqual([])
  })

  it('C053 a late reply is not taken for the reply to a later call', async () => {
    const ref = await server()
    const gate = new Gate()
    const first = outcome(ref.ask('hold', { cells: gate.cells, reply: 'late' }, { timeoutMs: 50 }))
    await at(gate)
    expect(await first).toBe('Timeout')
    const second = ref.ask('echo', 'second')
    gate.open()
    expect(await second).toBe('second')
    expect(await ref.ask('echo', 'third')).toBe('third')
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])('C145 %d ms is refused', async (timeoutMs) => {
    const ref = await server()
    expect(await outcome(ref.ask('echo', 1, { timeoutMs }))).toBe('InvalidOption')
  })

  it('C145 30 days does not fire early', async () => {
    const ref = await server()
    const gate = new Gate()
    const asked = ref.ask('hold', { cells: gate.cells, reply: 1 }, { timeoutMs: 2_147_483_647 })
    await at(gate)
    gate.open()
    expect(await asked).toBe(1)
  })

  it('C056 of an agent in back-off, every caller is answered by its time-out, and a stop answers the patient', async () => {
    const ref = await server({ restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } })
    await ref.kill()
    await eventually(() => ref.phase === 'ACTIVE', 'the first restart')
    await ref.kill()
    expect(ref.snapshot()).toMatchObject({ phase: 'STOPPED', status: 'Unhealthy' })
    const hurried = Array.from({ length: 100 }, () => outcome(ref.ask('echo', 1, { timeoutMs: 50 })))
    const patient = outcome(ref.ask('echo', 1))
    expect(new Set(await Promise.all(hurried))).toEqual(new Set(['Timeout']))
    expect(ref.snapshot().mailbox.depth).toBe(1)
    await ref.stop()
    expect(await patient).toBe('NotAccepting')
    expect(ref.snapshot().mailbox.depth).toBe(0)
  })
})

describe('an exclusive command', () => {
  it('is refused while it runs, and free again after its reply, its time-out and its death', async () => {
    const ref = await server()
    const gate = new Gate()
    const first = ref.ask('only', gate.cells)
    await at(gate)
    expect(await outcome(ref.ask('only', gate.cells))).toBe('CommandBusy')
    gate.open()
    expect(await first).toBe('only')
    const second = new Gate()
    const timedOut = outcome(ref.ask('only', second.cells, { timeoutMs: 50 }))
    await at(second)
    expect(await timedOut).toBe('Timeout')
    expect(await outcome(ref.ask('only', second.cells))).toBe('CommandBusy')
    second.open()
    const open = new Gate()
    open.open()
    expect(await eventually(() => ref.ask('only', open.cells), 'it is free')).toBe('only')
    const third = new Gate()
    const dies = outcome(ref.ask('only', third.cells))
    await at(third)
    await ref.kill()
    expect(await dies).toBe('AgentDied')
    await eventually(() => ref.phase === 'ACTIVE', 'the successor')
    expect(await ref.ask('only', open.cells)).toBe('only')
  })
})

describe('C037 asks while the agent is restarted', () => {
  it('each ends in its own reply or an explicit error, once, over five restarts and five kills', async () => {
    const ref = await server()
    const ends: unknown[] = []
    let asking = true
    let sent = 0
    const stream = (async () => {
      const waiting: Promise<unknown>[] = []
      while (asking) {
        for (let burst = 0; burst < 20; burst++) {
          const n = sent++
          waiting.push(outcome(ref.ask('echo', n)).then((end) => ends.push(end === n ? 'own' : end)))
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
      await Promise.all(waiting)
    })()
    for (let round = 0; round < 5; round++) {
      await ref.restart()
      await ref.kill()
      await eventually(() => ref.phase === 'ACTIVE', 'the successor')
    }
    asking = false
    await stream
    expect(ends).toHaveLength(sent)
    const allowed: unknown[] = ['own', 'AgentDied', 'Overloaded']
    expect(ends.filter((end) => !allowed.includes(end))).toEqual([])
    expect(ends.filter((end) => end === 'own').length).toBeGreaterThan(0)
    expect(ref.snapshot().mailbox.depth).toBe(0)
  })
})

describe('C040 nothing is left behind', () => {
  it('by 300 rounds of start, ask and kill in mid-call', { timeout: 120_000 }, async () => {
    const warnings: string[] = []
    const onWarning = ({ name }: Error): unknown => warnings.push(name)
    process.on('warning', onWarning)
    const ref = await server()
    const round = async (): Promise<void> => {
      const gate = new Gate()
      const asked = outcome(ref.ask('hold', { cells: gate.cells, reply: 1 }))
      await at(gate)
      await ref.kill()
      expect(await asked).toBe('AgentDied')
      await eventually(() => ref.phase === 'ACTIVE', 'the successor')
    }
    const resources = (): Record<string, number> => {
      const counts: Record<string, number> = {}
      for (const kind of process.getActiveResourcesInfo())
        if (/Port|Worker/.test(kind)) counts[kind] = (counts[kind] ?? 0) + 1
      return counts
    }
    for (let n = 0; n < 10; n++) await round()
    const before = resources()
    const listeners = process.eventNames().map((name) => [name, process.listenerCount(name)])
    for (let n = 10; n < 300; n++) await round()
    await eventually(
      () => JSON.stringify(resources()) === JSON.stringify(before),
      () => `${JSON.stringify(before)}, not ${JSON.stringify(resources())}`,
    )
    expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(listeners)
    process.off('warning', onWarning)
    expect(warnings).not.toContain('MaxListenersExceededWarning')
    expect(ref.deaths()).toHaveLength(64)
    expect(ref.snapshot()).toMatchObject({ restarts: 300, mailbox: { depth: 0, inFlight: 0 } })
  })

  it('by 20,000 asks, one signal and one agent', async () => {
    const warnings: string[] = []
    const onWarning = ({ name }: Error): unknown => warnings.push(name)
    process.on('warning', onWarning)
    const ref = await server()
    const { signal } = new AbortController()
    for (let batch = 0; batch < 20; batch++) {
      const asks = Array.from({ length: 1000 }, (_, n) => ref.ask('echo', n, batch === 0 ? { signal } : {}))
      expect((await Promise.all(asks)).at(-1)).toBe(999)
    }
    process.off('warning', onWarning)
    expect(ref.snapshot()).toMatchObject({ tasks: { received: 20_000, completed: 20_000 }, mailbox: { depth: 0 } })
    expect(warnings).toEqual([])
  })
})
