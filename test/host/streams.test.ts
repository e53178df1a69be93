/** What the streams of a host show, in order; and observers that throw, who harm nobody but themselves. */
import { pino } from 'pino'
import type { Observable } from 'rxjs'
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host, Output } from '../../src/host/host.ts'
import type { Fact } from '../../src/model/fact.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, openFleet, role } from '../fleet-on-disk.ts'
import { HAND, linesOf } from './hand.ts'

const fleet = { agents: { hand: { role: HAND, manifest: AT_ONCE } }, supervisor: NO_BUDGET }

async function crash(hand: AgentRef): Promise<void> {
  const before = hand.deaths().length
  hand.tell('throw', 'by request')
  await eventually(() => hand.deaths().length === before + 1 && hand.phase === 'ACTIVE', 'a restart')
}

describe('what is seen', () => {
  it('phase$ shows every phase in order, over start, crash, restart, pause and shutdown', async () => {
    const host = await openFleet(fleet)
    const hand = host.agent('hand')
    const phases: string[] = []
    let completed = false
    hand.phase$.subscribe({ next: (phase) => phases.push(phase), complete: () => (completed = true) })
    await host.start()
    await crash(hand)
    await hand.restart()
    await hand.pause()
    await hand.resume()
    await host.shutdown()
    await eventually(() => completed, 'the end of the stream')
    const boot = ['BOOTING', 'ACTIVE']
    const end = ['STOPPING', 'STOPPED']
    const pause = ['PAUSING', 'PAUSED', 'RESUMING', 'ACTIVE']
    expect(phases).toEqual(['STOPPED', ...boot, ...end, ...boot, ...end, ...boot, ...pause, ...end])
  })

  it('deaths$ and deadLetters$ tell each once, facts$ in order and numbered', async () => {
    const host = await hostFleet(fleet)
    const hand = host.agent('hand')
    const deaths: string[] = []
    const letters: string[] = []
    const facts: Fact[] = []
    host.deaths$.subscribe(({ id }) => deaths.push(id))
    host.deadLetters$.subscribe(({ name, reason, payload }) => letters.push(`${name} ${reason} ${payload}`))
    host.facts$.subscribe((fact) => facts.push(fact))
    hand.tell('nobody knows', 7)
    await crash(hand)
    await hand.kill()
    await eventually(() => deaths.length === 2 && letters.length === 2, 'two deaths and two letters')
    expect(deaths).toEqual(hand.deaths().map(({ id }) => id))
    expect(letters).toEqual(['nobody knows no_handler 7', 'throw crashed by request'])
    await eventually(() => facts.some(({ kind }) => kind === 'agent.command'), 'the kill')
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => facts[0]!.seq + index))
    const died = facts.filter(({ kind }) => kind === 'agent.died')
    expect(died.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^died \(crash\): by request, in flight: 'throw' \(\d+\)$/),
      expect.stringMatching(/^died \(killed\)/),
    ])
    expect(died[0]).toMatchObject({ agent: 'hand', level: 'warn', data: { deathId: deaths[0], cause: 'crash' } })
  })

  it('C044 each crash of a loop has its record, its fact and its number', async () => {
    const host = await hostFleet(fleet)
    const hand = host.agent('hand')
    const restarts: number[] = []
    host.facts$.subscribe(({ kind, data }) => {
      if (kind === 'agent.restart_scheduled') restarts.push((data as { attempt: number }).attempt)
    })
    for (let n = 1; n <= 5; n++) {
      await crash(hand)
      expect(hand.snapshot()).toMatchObject({
        restarts: n,
        lastDeath: { cause: 'crash', error: { message: 'by request' } },
      })
    }
    await eventually(() => restarts.length === 5, 'five restarts')
    expect(restarts).toEqual([1, 2, 3, 4, 5])
  })

  it('fleet$ shows the newest, with counts that add up', async () => {
    const host = await hostFleet(fleet)
    const seen: unknown[] = []
    host.fleet$.subscribe(({ counts, agents }) => seen.push({ counts, phase: agents[0]!.phase }))
    await eventually(() => seen.length === 1, 'the present one')
    await host.agent('hand').suspend()
    await eventually(() => (seen.at(-1) as { phase: string }).phase === 'STOPPED', 'the last one')
    expect(seen[0]).toEqual({ counts: { Running: 1 }, phase: 'ACTIVE' })
    expect(seen.at(-1)).toEqual({ counts: { Stopped: 1 }, phase: 'STOPPED' })
  })
})

describe('C001 output', () => {
  const LOOP = `for (let i = 0; i < 300; i++) console.log('L' + i)`
  const expected = Array.from({ length: 300 }, (_, i) => `L${i}`)
  const talker = role(`events: {
    exit() { ${LOOP}; process.exit(0) },
    throw() { ${LOOP}; throw new Error('x') },
    loop() { ${LOOP}; for (;;) {} },
    memory() { ${LOOP}; const all: object[] = []; for (;;) all.push({ a: [1, 2, 3] }) },
    quiet() { ${LOOP} },
    mixed() { for (let i = 0; i < 100; i++) { console.log('o' + i); console.error('e' + i) }; process.stdout.write('no end'); process.exit(1) },
  }`)

  /** The host's log as it was written, line by line. */
  async function logged(): Promise<{
    host: Host
    talker: AgentRef
    log: { text: string; kind?: string }[]
    outputs: Output[]
  }> {
    const log: { text: string; kind?: string }[] = []
    const write = (line: string): void => {
      const { msg: text, kind } = JSON.parse(line)
      log.push({ text, kind })
    }
    const host = await hostFleet(
      { agents: { talker: { role: talker, manifest: { restart: { type: 'temporary' }, limits: { heapMb: 16 } } } } },
      { log: pino({ level: 'info' }, { write }) },
    )
    const outputs: Output[] = []
    host.output$.subscribe((output) => outputs.push(output))
    return { host, talker: host.agent('talker'), log, outputs }
  }

  it.each(['exit', 'throw', 'memory', 'stop', 'kill'] as const)(
    'every line is there, in order, before the death: %s',
    async (way) => {
      const { talker, log, outputs } = await logged()
      if (way === 'stop') await talker.emit('quiet')
      else talker.tell(way === 'kill' ? 'loop' : way)
      if (way === 'kill') await eventually(() => outputs.length === 300, 'what was printed before the loop')
      if (way === 'stop') await talker.stop()
      if (way === 'kill') await talker.kill()
      await eventually(() => talker.phase === 'STOPPED', 'the death')
      const lines = log.filter(({ text }) => /^L\d+$/.test(text)).map(({ text }) => text)
      expect(lines).toEqual(expected)
      const death = log.findIndex(({ kind }) => kind === 'agent.died' || kind === 'agent.ended')
      expect(death).toBeGreaterThan(log.findIndex(({ text }) => text === 'L299'))
      await eventually(() => outputs.length === 300, 'the stream')
      expect(outputs.map(({ text }) => text)).toEqual(expected)
    },
  )

  it('stdout and stderr keep their common order, and a line without an end is not lost', async () => {
    const { talker, outputs } = await logged()
    talker.tell('mixed')
    await eventually(
      () => talker.phase === 'STOPPED' && outputs.length >= 201,
      () => `201 lines, not ${outputs.length}`,
    )
    expect(outputs.map(({ text, stream }) => `${stream} ${text}`)).toEqual([
      ...Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? `stdout o${i / 2}` : `stderr e${(i - 1) / 2}`)),
      'stdout no end',
    ])
  })
})

describe('C019 output without end', () => {
  it('is bounded, and what was dropped is counted and told', async () => {
    const [writes, each] = [10, 20_000]
    const flood = `for (let i = 0; i < ${writes}; i++) process.stdout.write('line\\n'.repeat(${each}))`
    const talker = role(`events: { flood() { ${flood} } }`)
    let lines = 0
    const write = (line: string): unknown => line.includes('"msg":"line"') && lines++
    const host = await hostFleet(
      { agents: { talker: { role: talker, manifest: { restart: { type: 'temporary' } } } } },
      { log: pino({ level: 'info' }, { write }) },
    )
    let dropped = 0
    host.facts$.subscribe(({ kind, data }) => {
      if (kind === 'agent.lost') dropped += (data as { count: number }).count
    })
    await host.agent('talker').emit('flood')
    await host.agent('talker').stop()
    await eventually(
      () => dropped > 0 && lines + dropped === writes * each,
      () => `${lines} lines and ${dropped} dropped to be ${writes * each}`,
    )
  })
})

describe('an observer that throws is cut off and reported, and nobody else is harmed', () => {
  const streams: [string, (host: Host) => Observable<unknown>][] = [
    ['facts$', (host) => host.facts$],
    ['deaths$', (host) => host.deaths$],
    ['fleet$', (host) => host.fleet$],
    ['deadLetters$', (host) => host.deadLetters$],
    ['output$', (host) => host.output$],
    ['hand.phase$', (host) => host.agent('hand').phase$],
    ['hand.snapshot$', (host) => host.agent('hand').snapshot$],
  ]

  it.each(streams)('%s', async (name, streamOf) => {
    const host = await hostFleet(fleet)
    const hand = host.agent('hand')
    const lines = linesOf(host, 'hand')
    const failures: unknown[] = []
    host.facts$.subscribe(({ kind, data }) => kind === 'observer.failed' && failures.push(data))
    let bad = 0
    let good = 0
    streamOf(host).subscribe({
      next: () => {
        bad++
        throw new Error(`not my day ${bad}`)
      },
    })
    streamOf(host).subscribe({ next: () => good++ })
    streamOf(host).subscribe(async () => {
      throw null
    })
    for (let round = 0; round < 3; round++) {
      hand.tell('note', round)
      await crash(hand)
    }
    await eventually(
      () => failures.length === 2 && good > 1,
      () => `two reports (${failures.length}) and values for others (${good})`,
    )
    expect(failures).toContainEqual({ stream: name, error: 'not my day 1' })
    expect(bad).toBe(1)
    expect(lines.filter((line) => line.startsWith('note'))).toEqual(['note 0', 'note 1', 'note 2'])
    expect(await hand.ask('ping')).toBe('pong')
  })
})
