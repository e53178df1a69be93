/** The figures of a host in the format of Prometheus. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND } from './hand.ts'

interface Page {
  readonly types: ReadonlyMap<string, string>
  /** By `name{labels}`. */
  readonly values: ReadonlyMap<string, number>
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"/

function labels(text: string): string[] {
  const found: string[] = []
  for (let rest = text; rest !== ''; ) {
    const [label] = LABEL.exec(rest) ?? []
    if (label === undefined) throw new Error(`no label: ${rest}`)
    found.push(label)
    rest = rest.slice(label.length).replace(/^,/, '')
  }
  return found
}

/** Reads the text format 0.0.4, and refuses what is not of it. */
function parse(body: string): Page {
  const types = new Map<string, string>()
  const values = new Map<string, number>()
  for (const line of body.split('\n')) {
    if (line === '') continue
    const [, comment, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (comment !== undefined) {
      expect(name).toMatch(NAME)
      if (comment === 'TYPE') {
        expect(types.has(name), `TYPE of ${name} once`).toBe(false)
        types.set(name, rest)
      }
      continue
    }
    const [, metric = '', inner = '', value = ''] = SAMPLE.exec(line) ?? []
    expect(metric, line).toMatch(NAME)
    const family = metric.replace(/_(?:bucket|sum|count)$/, '')
    expect(types.has(metric) || types.has(family), `TYPE before ${line}`).toBe(true)
    const key = inner === '' ? metric : `${metric}{${labels(inner).sort().join(',')}}`
    expect(values.has(key), `${key} once`).toBe(false)
    expect(/^(?:[-+]?[\d.]+(?:e[-+]?\d+)?|NaN|[+-]Inf)$/i.test(value), line).toBe(true)
    values.set(key, Number(value))
  }
  return { types, values }
}

async function page(host: Host): Promise<Page> {
  const { contentType, body } = await host.metrics.text()
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(body.endsWith('\n')).toBe(true)
  return parse(body)
}

const of = ({ values }: Page, name: string): number | undefined => values.get(name)

describe('the page', () => {
  it('is in the format, and named by the convention', async () => {
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    await host.agent('hand').emit('note', 1)
    const { types, values } = await page(host)
    const own = [...types].filter(([name]) => name.startsWith('holt_'))
    expect(own.length).toBeGreaterThan(15)
    for (const [name, type] of own) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      expect(name).not.toMatch(/_(?:ms|mb|milliseconds|megabytes)(?:_|$)/)
    }
    for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds', 'process_resident_memory_bytes'])
      expect(types.has(name), name).toBe(true)
    expect(values.get('holt_heap_limit_bytes{agent="hand"}')).toBe(64 * 1_048_576)
    expect(values.get('holt_agent_up{agent="hand"}')).toBe(1)
    expect(values.get('holt_agents{status="Running"}')).toBe(1)
  })

  it('is asked for by two at once, and by two hosts of one process', async () => {
    const hosts = await Promise.all([1, 2].map(() => hostFleet({ agents: { hand: { role: HAND } } })))
    const pages = await Promise.all(hosts.flatMap((host) => [page(host), page(host)]))
    for (const one of pages) expect(of(one, 'holt_agents{status="Running"}')).toBe(1)
  })
})

describe('messages', () => {
  it('are counted by fate, also those before anybody asked', async () => {
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    const hand = host.agent('hand')
    for (let i = 0; i < 1000; i++) hand.tell('note', i)
    await hand.emit('note', 1000)
    await hand.ask('ping')
    await hand.emit('nothing')
    await hand.emit('note', 1, { ttlMs: 0 })
    const now = await page(host)
    const fate = (name: string): number | undefined => of(now, `holt_message_fates_total{agent="hand",fate="${name}"}`)
    expect(of(now, 'holt_messages_received_total{agent="hand"}')).toBe(1004)
    expect(fate('handled')).toBe(1002)
    expect(fate('ignored')).toBe(1)
    expect(fate('expired')).toBe(1)
    expect(of(now, 'holt_handler_calls_total{agent="hand",handler="note"}')).toBe(1001)
    expect(of(now, 'holt_handler_duration_seconds{agent="hand",handler="note",quantile="0.99"}')).toBeGreaterThan(0)
    expect(of(now, 'holt_mailbox_depth{agent="hand"}')).toBe(0)
  })

  it('that wait have a depth and an age', async () => {
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    const hand = host.agent('hand')
    await hand.suspend()
    for (let i = 0; i < 3; i++) hand.tell('note', i)
    await eventually(() => (hand.snapshot().mailbox.oldestAgeMs ?? 0) > 0, 'some time')
    const now = await page(host)
    expect(of(now, 'holt_mailbox_depth{agent="hand"}')).toBe(3)
    expect(of(now, 'holt_mailbox_oldest_age_seconds{agent="hand"}')).toBeGreaterThan(0)
    expect(of(now, 'holt_agent_up{agent="hand"}')).toBe(0)
  })
})

describe('counters', () => {
  it('only grow, over deaths and restarts', async () => {
    const host = await hostFleet({ supervisor: NO_BUDGET, agents: { hand: { role: HAND, manifest: AT_ONCE } } })
    const hand = host.agent('hand')
    let before = await page(host)
    for (const way of ['throw', 'exit', 'kill', 'restart', 'suspend'] as const) {
      for (let i = 0; i < 20; i++) hand.tell('note', i)
      await hand.ask('ping')
      const { epoch } = (await hand.ask('who')) as { epoch: number }
      if (way === 'throw' || way === 'exit') hand.tell(way, 0)
      else await hand[way]()
      if (way === 'suspend') await hand.activate()
      await eventually(
        () => hand.phase === 'ACTIVE' && (hand.snapshot().instance?.epoch ?? 0) > epoch,
        'the next instance',
      )
      const after = await page(host)
      for (const [key, value] of before.values) {
        const type = before.types.get(key.split('{')[0]!)
        if (type === 'counter') expect(after.values.get(key), `${key} after ${way}`).toBeGreaterThanOrEqual(value)
      }
      before = after
    }
    expect(of(before, 'holt_deaths_total{agent="hand",cause="crash"}')).toBe(1)
    expect(of(before, 'holt_deaths_total{agent="hand",cause="killed"}')).toBe(1)
    expect(of(before, 'holt_deaths_total{agent="hand",cause="suspended"}')).toBe(1)
    expect(of(before, 'holt_restarts_total{agent="hand"}')).toBe(hand.snapshot().restarts)
    expect(of(before, 'holt_message_fates_total{agent="hand",fate="crashed"}')).toBe(2)
    expect(of(before, 'holt_message_fates_total{agent="hand",fate="handled"}')).toBe(5 * 22)
  })

  it('have what runs in flight, and not among the handled', async () => {
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    const gate = new Gate()
    host.agent('hand').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    const now = await page(host)
    expect(of(now, 'holt_mailbox_in_flight{agent="hand"}')).toBe(1)
    expect(of(now, 'holt_message_fates_total{agent="hand",fate="handled"}')).toBe(0)
    await host.agent('hand').kill()
  })
})

describe('labels', () => {
  it('go with their agent', async () => {
    const worker = role('events: { note() {} }')
    const host = await hostFleet({
      agents: { worker: { role: worker } },
      children: [{ supervisor: { id: 'pool', strategy: 'dynamic' }, children: [] }],
    })
    await host.spawn('pool', { agent: 'agents/worker', id: 'worker' })
    await host.agent('worker').emit('nothing')
    await host.agent('worker').kill()
    const texts = async () => (await host.metrics.text()).body
    expect(await texts()).toContain('agent="worker"')
    await host.remove('worker')
    expect(await texts()).not.toContain('agent="worker"')
  })

  it('are bounded, however many handlers a role has', async () => {
    const many = Array.from({ length: 200 }, (_, i) => `e${i}() {}`).join(',')
    const host = await hostFleet({ agents: { many: { role: role(`events: { ${many} }`) } } })
    for (let i = 0; i < 200; i++) await host.agent('many').emit(`e${i}`)
    const { values } = await page(host)
    const calls = [...values].filter(([key]) => key.startsWith('holt_handler_calls_total'))
    expect(calls).toHaveLength(65)
    expect(calls.reduce((sum, [, value]) => sum + value, 0)).toBe(200)
  })
})
