/** Why an agent is where it is: told for every standing, from real deaths and real intents. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { FleetObject } from '../../src/manifest/fleet-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND } from './hand.ts'

const one = (manifest: Partial<AgentObject> = {}, supervisor: FleetObject['supervisor'] = NO_BUDGET): Promise<Host> =>
  hostFleet({ agents: { hand: { role: HAND, manifest } }, supervisor })

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
const DURATION = String.raw`\d+(?:\.\d)? (?:ms|s|min)`
const INSTANCE = `'[^']+'`
const text = (pattern: string): unknown => expect.stringMatching(new RegExp(`^${pattern}$`))

/** Crashes it, and waits until that is on record. */
async function crash(host: Host, message: string): Promise<void> {
  const before = host.deaths('hand').length
  host.agent('hand').tell('throw', message)
  await eventually(() => host.deaths('hand').length > before, `a death by '${message}'`)
}

const LIVE_REMEDIES = [
  '`holt pause hand` lets it finish what it is at and begin nothing more',
  '`holt suspend hand` frees its thread and keeps its mailbox',
  '`holt stop hand` ends it, and it takes no more',
  '`holt restart hand` ends it and starts it anew',
  '`holt kill hand` ends its thread now; the supervisor decides what follows',
]

const ENDED_REMEDIES = [
  '`holt pause hand` has it begin nothing once it is up',
  '`holt suspend hand` has messages wait for it until it is activated',
  '`holt stop hand` records that it is not wanted running',
  '`holt restart hand` starts it, with fresh delays',
]

describe('where nothing went wrong', () => {
  it('never started', async () => {
    const host = await one({ autostart: false })
    expect(host.why('hand')).toEqual({
      agent: 'hand',
      status: 'Stopped',
      sentences: ['IDLE: it was never started: autostart is off, and nobody has asked for it'],
      records: [],
      wouldChangeIt: ['`holt start hand` reads its files again and starts it'],
    })
  })

  it('running, idle and busy', async () => {
    const host = await one()
    expect(host.why('hand')).toEqual({
      agent: 'hand',
      status: 'Running',
      sentences: [text(`ACTIVE: it runs and is idle, instance ${INSTANCE} for ${DURATION}`)],
      records: [],
      wouldChangeIt: LIVE_REMEDIES,
    })
    const gate = new Gate()
    host.agent('hand').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    expect(host.why('hand').sentences).toEqual([
      text(`ACTIVE: it runs and is at 'hold' \\(message 1\\), instance ${INSTANCE} for ${DURATION}`),
    ])
    gate.open()
  })

  it('paused, by whom and why', async () => {
    const host = await one()
    await host.agent('hand').pause({ by: 'ops', reason: 'a look' })
    host.agent('hand').tell('note', 1)
    expect(host.why('hand')).toMatchObject({
      status: 'Paused',
      sentences: [
        'PAUSED: its thread is there and begins nothing',
        text(`paused by 'ops' at ${TIME}, reason: a look: nothing new is begun`),
      ],
      wouldChangeIt: ['`holt resume hand` lets it go on; 1 message waits', ...LIVE_REMEDIES.slice(1)],
    })
  })

  it('pausing, and what for', async () => {
    const host = await one({ limits: { pauseTimeoutMs: 20 } })
    const gate = new Gate()
    host.agent('hand').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    await host.agent('hand').pause()
    expect(host.why('hand').sentences[0]).toBe("PAUSING: it begins nothing more and finishes 'hold' (message 1)")
    const stopping = host.agent('hand').stop({ by: 'ops' })
    await eventually(() => host.agent('hand').phase === 'STOPPING', 'STOPPING')
    expect(host.why('hand').sentences[0]).toBe(
      "STOPPING: it is ending, by 'stop' of 'ops', and finishes 'hold' (message 1)",
    )
    gate.open()
    await stopping
  })

  it('suspended, and stopped, by an operator', async () => {
    const host = await one()
    await host.agent('hand').suspend({ by: 'ops', reason: 'too dear' })
    host.agent('hand').tell('note', 1)
    host.agent('hand').tell('note', 2)
    const [death] = host.deaths('hand')
    expect(host.why('hand')).toEqual({
      agent: 'hand',
      status: 'Stopped',
      sentences: [
        text(`STOPPED \\(suspended\\): suspended by 'ops' at ${TIME}, reason: too dear`),
        text(`ended, as it was suspended \\(instance ${INSTANCE}, at ${TIME}\\)`),
        "no restart, by supervisor 'root' (command), by the word of 'ops': a command ended it",
      ],
      records: [death!.id],
      wouldChangeIt: [
        '`holt activate hand` reads its files again and starts it; 2 messages wait',
        '`holt stop hand` records that it is not wanted running',
      ],
    })
    await host.agent('hand').stop({ by: 'ops' })
    expect(host.why('hand')).toMatchObject({
      sentences: [text(`STOPPED \\(stopped\\): stopped by 'ops' at ${TIME}`), expect.anything(), expect.anything()],
      wouldChangeIt: ['`holt start hand` reads its files again and starts it'],
    })
  })
})

describe('where something did', () => {
  it('a boot that failed, and will not change by itself', async () => {
    const host = await hostFleet({ agents: { hand: { role: role('needs: ["text"]') } } })
    expect(host.why('hand')).toMatchObject({
      status: 'Stopped',
      sentences: [
        'FAILED: its boot failed, and nothing is scheduled',
        text(
          `did not boot: step 'needs' failed: role 'role' needs capability 'text'.* \\(instance ${INSTANCE}, at ${TIME}\\)`,
        ),
        "no restart, by supervisor 'root' (final_boot_failure): that will not change by itself",
      ],
      wouldChangeIt: ['`holt start hand` reads its files again and starts it', ...ENDED_REMEDIES],
    })
  })

  it('a boot that will be tried again', async () => {
    const host = await hostFleet({
      agents: { hand: { role: 'throw new Error("not today")' } },
      supervisor: NO_BUDGET,
    })
    await eventually(() => host.deaths('hand').length >= 2 && host.agent('hand').phase === 'FAILED', 'a second failure')
    const { status, sentences } = host.why('hand')
    expect(status).toBe('Starting')
    expect(sentences[0]).toEqual(
      text(`FAILED: restart \\d (?:at once|in ${DURATION}), by supervisor 'root' \\(backoff\\)`),
    )
    expect(sentences[1]).toMatch(/^did not boot: step 'roles' failed: .*not today/)
  })

  it('a crash loop in back-off', async () => {
    const host = await one({ restart: { backoff: { minMs: 60_000, maxMs: 60_000, jitter: 0 } } })
    await crash(host, 'one')
    await eventually(() => host.agent('hand').phase === 'ACTIVE', 'the first restart')
    await crash(host, 'two')
    const [first, second] = host.deaths('hand')
    expect(host.why('hand')).toEqual({
      agent: 'hand',
      status: 'Unhealthy',
      sentences: [
        text(`STOPPED \\(Unhealthy\\): restart 2 in ${DURATION}, by supervisor 'root' \\(backoff\\)`),
        text(`crashed: two, while it handled 'throw' \\(message 2\\) \\(instance ${INSTANCE}, at ${TIME}\\)`),
        "restart 2 after 60 s, by supervisor 'root' (backoff)",
        text(
          `before that: crashed: one, while it handled 'throw' \\(message 1\\) \\(instance ${INSTANCE}, at ${TIME}\\)`,
        ),
      ],
      records: [second!.id, first!.id],
      wouldChangeIt: [
        '`holt pause hand` has it begin nothing once it is up',
        '`holt suspend hand` cancels the start; messages wait',
        '`holt stop hand` cancels the start, and it takes no more',
        '`holt restart hand` starts it now, with fresh delays',
      ],
    })
  })

  it('a limit of restarts that is used up', async () => {
    const host = await one({ restart: { backoff: 'none', maxRestarts: 1 } })
    await crash(host, 'one')
    await eventually(() => host.agent('hand').phase === 'ACTIVE', 'the one restart')
    await crash(host, 'two')
    expect(host.why('hand')).toMatchObject({
      status: 'Stopped',
      sentences: [
        'STOPPED: was restarted once without progress, as often as its restart.maxRestarts allows; not restarted, its siblings go on',
        text(`crashed: two, .*`),
        "no restart, by supervisor 'root' (restart_limit): it has had as many restarts without progress as it may",
        text(`before that: crashed: one, .*`),
      ],
      wouldChangeIt: ['`holt start hand` reads its files again and starts it', ...ENDED_REMEDIES],
    })
  })

  it('a supervisor that gave up', async () => {
    const host = await one(AT_ONCE, { id: 'root', intensity: 1, periodMs: 60_000 })
    await crash(host, 'one')
    await eventually(() => host.agent('hand').phase === 'ACTIVE', 'the one restart')
    await crash(host, 'two')
    await eventually(() => host.tree().gaveUp !== undefined, 'giving up')
    expect(host.why('hand')).toMatchObject({
      status: 'Stopped',
      sentences: [
        text(
          `STOPPED: crashed 2 times in ${DURATION}, more than 1 in 60 s allowed by supervisor 'root'; not restarted`,
        ),
        text(`crashed: two, .*`),
        "no restart, by supervisor 'root' (restart_intensity): that was one restart more than the supervisor allows",
        text(`before that: crashed: one, .*`),
        text(`supervisor 'root' gave up: 2 restarts \\(hand\\) in ${DURATION}, more than 1 in 60 s allowed`),
      ],
    })
    expect(host.why('hand').wouldChangeIt.slice(0, 2)).toEqual([
      "`holt start root` starts all that supervisor 'root' keeps",
      '`holt start hand` reads its files again and starts it',
    ])
    await host.command('root', 'start')
    expect(host.why('hand').sentences.slice(0, 3)).toEqual([
      text(`ACTIVE: it runs and is idle, .*`),
      text(`before that: crashed: two, .*`),
      text(`no restart, by supervisor 'root' \\(restart_intensity\\): .*`),
    ])
  })

  it('a supervisor that was stopped', async () => {
    const host = await one()
    await host.command('root', 'stop', { by: 'ops', reason: 'a new disk' })
    expect(host.why('hand')).toMatchObject({
      status: 'Stopped',
      sentences: [
        "STOPPED: it was ended with supervisor 'root', which 'ops' stopped; not restarted",
        text(`ended, as it was told to \\(instance ${INSTANCE}, at ${TIME}\\)`),
        "no restart, by supervisor 'root' (supervisor), by the word of 'ops': its supervisor ended",
        text(`supervisor 'root' was stopped by 'ops' at ${TIME}, reason: a new disk, and this agent with it`),
      ],
    })
    expect(host.why('hand').wouldChangeIt[0]).toBe("`holt start root` starts all that supervisor 'root' keeps")
  })

  it.each([
    ['kill', (host: Host) => host.agent('hand').kill(), 'was killed'],
    [
      'process.exit',
      (host: Host) => host.agent('hand').emit('exit', 7),
      'ended its thread by process.exit, code 7, .*',
    ],
    ['ctx.stop', (host: Host) => host.agent('hand').emit('end'), 'ended itself'],
  ])('an end by %s', async (_how, end, sentence) => {
    const host = await one({ restart: { type: 'temporary' } })
    await end(host)
    await eventually(() => host.agent('hand').phase === 'STOPPED', 'STOPPED')
    expect(host.why('hand').sentences[1]).toEqual(text(`${sentence} \\(instance ${INSTANCE}, at ${TIME}\\)`))
    expect(host.why('hand').sentences[2]).toContain('(restart_type)')
  })

  it('tells of the last three deaths only', async () => {
    const host = await one(AT_ONCE)
    for (const message of ['1', '2', '3', '4']) {
      await crash(host, message)
      await eventually(() => host.agent('hand').phase === 'ACTIVE', 'a restart')
    }
    const { sentences, records } = host.why('hand')
    expect(records).toEqual(
      host
        .deaths('hand')
        .slice(1)
        .reverse()
        .map(({ id }) => id),
    )
    expect(sentences.filter((sentence) => sentence.includes('crashed'))).toHaveLength(3)
  })
})
