/** Replacing a running version: nothing is lost, nothing is handled twice, and what does not become ready is dropped. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import type { Fact } from '../../src/model/fact.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { at, type FleetText, hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

/** Remembers what it has handled in its session, over versions; `version` is that of its code. */
const counting = (version: number, more = ''): string =>
  role(
    `events: {
      add(n, ctx) { void ctx.session('log').append([${version}, n]); ${more} },
      async die(cells) { await wait(cells); throw new Error('died') },
      async hold(cells, ctx) { await wait(cells); await ctx.memory.set('held', ${version}) },
    },
    commands: {
      version: { handle: () => ${version} },
      held: { handle: (_, ctx) => ctx.memory.get('held') },
      log: { async handle(_, ctx) {
        const all = []
        for (;;) {
          const page = await ctx.session('log').page({ from: all.length, limit: 10000 })
          if (page.length === 0) return all
          all.push(...page.map(({ value }) => value))
        }
      } },
    }`,
    AT_GATE,
  )

interface Place {
  readonly host: Host
  /** Writes the code of an agent anew. */
  readonly rewrite: (text: string, agent?: string) => Promise<void>
  readonly dir: string
  readonly facts: Fact[]
}

async function place(agents: FleetText['agents'] = { a: { role: counting(1) } }, more: object = {}): Promise<Place> {
  const dir = await writeFleet({ agents, supervisor: NO_BUDGET, ...more })
  const host = await hostFleet(dir)
  const facts: Fact[] = []
  host.facts$.subscribe((fact) => facts.push(fact))
  return {
    host,
    dir,
    facts,
    rewrite: (text, agent = 'a') => writeFile(join(dir, at(agent), 'roles', 'role.ts'), text),
  }
}

describe('reload', () => {
  it('replaces the version while events come in: each is handled once, in order', async () => {
    const { host, rewrite } = await place()
    const a = host.agent('a')
    let sent = 0
    let over = false
    const sending = (async () => {
      while (!over) {
        // No more than is handled, also while it waits: the test is of order and loss, not of the bound.
        if (a.snapshot().mailbox.depth < 2000) for (let n = 0; n < 50; n++) if (a.tell('add', sent)) sent++
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    for (const version of [2, 3, 4]) {
      const before = sent
      await eventually(() => sent > before + 500, 'events in between')
      await rewrite(counting(version))
      expect(await a.reload()).toMatchObject({
        phase: 'ACTIVE',
        status: 'Running',
        superseded: false,
        reload: { changed: ['roles'], replaced: true },
      })
      expect(await a.ask('version')).toBe(version)
    }
    over = true
    await sending
    expect(a.snapshot().mailbox).toMatchObject({ dropped: 0, ignored: 0 })
    const log = (await a.ask('log', undefined, { timeoutMs: 20_000 })) as [number, number][]
    expect(log.map(([, n]) => n)).toEqual(Array.from({ length: sent }, (_, n) => n))
    // Versions follow one another and never take turns.
    expect([...new Set(log.map(([version]) => version))]).toEqual([1, 2, 3, 4])
    expect(log.every(([version], index) => index === 0 || version >= log[index - 1]![0])).toBe(true)
    expect(a.snapshot()).toMatchObject({ restarts: 0, mailbox: { dropped: 0, ignored: 0 } })
    expect(a.deaths().map(({ cause, decision }) => [cause, decision.rule, decision.action])).toEqual(
      Array.from({ length: 3 }, () => ['shutdown', 'command', 'none']),
    )
  })

  it('lets the old version finish what it is at, and write under its epoch, before the new one begins', async () => {
    const { host, rewrite } = await place()
    const a = host.agent('a')
    const gate = new Gate()
    const held = a.emit('hold', gate.cells)
    const after = a.emit('add', 1)
    await eventually(() => gate.reached === 1, 'the handler')
    await rewrite(counting(2))
    const reloaded = a.reload()
    await eventually(() => a.snapshot().superseded && a.phase === 'STOPPING', 'the hand-over')
    gate.open()
    expect(await held).toEqual({ fate: 'handled' })
    expect(await reloaded).toMatchObject({ reload: { replaced: true } })
    expect(await after).toEqual({ fate: 'handled' })
    expect(await a.ask('held')).toBe(1)
    expect(await a.ask('log')).toEqual([[2, 1]])
  })

  it('cordons the old version while the new one boots', async () => {
    const { host, rewrite } = await place()
    const a = host.agent('a')
    await rewrite(`await new Promise((resolve) => setTimeout(resolve, 300))\n${counting(2)}`)
    const seen: string[] = []
    a.snapshot$.subscribe(({ phase, status, superseded }) => superseded && seen.push(`${phase} ${status}`))
    const reloaded = a.reload()
    await eventually(() => a.snapshot().superseded, 'the cordon')
    expect(a.snapshot()).toMatchObject({ phase: 'ACTIVE', status: 'Paused', command: { name: 'reload' } })
    const fate = a.emit('add', 1)
    await reloaded
    expect((await fate).fate).toBe('queued')
    await eventually(async () => ((await a.ask('log')) as unknown[]).length === 1, 'what had waited')
    expect(seen[0]).toBe('ACTIVE Paused')
  })

  const BAD = [
    ['throws at its import', `throw new Error('at import')\n${counting(2)}`, /step 'roles'\): .*at import/],
    ['does not compile', 'const = 1', /step 'compile'\): Cannot compile/],
    ['is not ready in time', `await new Promise(() => {})\n${counting(2)}`, /not ready within 300 ms/],
    ['hangs at its import', `for (;;);\n${counting(2)}`, /not ready within 300 ms/],
    ['ends its thread', `process.exit(3)\n${counting(2)}`, /did not become ready/],
  ] as const

  for (const [what, text, why] of BAD)
    it(`drops a version that ${what}, and the old one goes on`, async () => {
      const { host, rewrite } = await place({ a: { role: counting(1), manifest: { limits: { bootTimeoutMs: 300 } } } })
      const a = host.agent('a')
      const before = a.snapshot().instance!
      await rewrite(text)
      const reloaded = a.reload()
      const sent = a.emit('add', 1)
      await expect(reloaded).rejects.toMatchObject({ code: 'BootFailed', message: expect.stringMatching(why) })
      await expect(reloaded).rejects.toThrow(/version 0.0.0 goes on/)
      expect(['queued', 'handled']).toContain((await sent).fate)
      await eventually(async () => ((await a.ask('log')) as unknown[]).length === 1, 'the event')
      expect(await a.ask('log')).toEqual([[1, 1]])
      expect(a.snapshot()).toMatchObject({ phase: 'ACTIVE', status: 'Running', superseded: false, restarts: 0 })
      expect(a.snapshot().instance!.id).toBe(before.id)
      // Each instance has a record, also one that never had a message.
      const dropped = a.deaths().filter(({ instance }) => instance !== before.id)
      expect(dropped.length).toBe(what === 'does not compile' ? 0 : 1)
      for (const { decision } of dropped) expect(decision).toMatchObject({ rule: 'command', action: 'none' })
      await rewrite(counting(3))
      await a.reload()
      expect(await a.ask('version')).toBe(3)
    })

  it('does not take back a version that crashes at its first message: that is for its supervisor', async () => {
    const { host, rewrite } = await place({
      a: { role: counting(1), manifest: { restart: { backoff: 'none', maxRestarts: 2 } } },
    })
    const a = host.agent('a')
    await rewrite(counting(2, "throw new Error('new')"))
    await a.reload()
    expect((await a.emit('add', 1)).fate).toBe('crashed')
    await eventually(() => a.phase === 'ACTIVE', 'the restart')
    expect(await a.ask('version')).toBe(2)
  })

  it('says what would change, and changes nothing; and does nothing where nothing has changed', async () => {
    const { host, dir, rewrite } = await place()
    const a = host.agent('a')
    const before = a.snapshot().instance!.id
    expect((await a.reload()).reload).toEqual({ from: '0.0.0', to: '0.0.0', changed: [], replaced: false })
    await rewrite(counting(2))
    const manifest = { id: 'a', name: 'A', version: '2.0.0', limits: { heapMb: 70 } }
    await writeFile(join(dir, at('a'), 'agent.yml'), JSON.stringify(manifest))
    await writeFile(join(dir, at('a'), '.env'), 'SECRET_OF_MINE=do-not-tell')
    const dry = await a.reload({ dryRun: true })
    expect(dry.reload).toEqual({
      from: '0.0.0',
      to: '2.0.0',
      changed: ['name', 'version', 'limits.heapMb', 'roles', 'env'],
      replaced: false,
    })
    expect(a.snapshot().instance!.id).toBe(before)
    expect(await a.ask('version')).toBe(1)
    expect((await a.reload()).reload.replaced).toBe(true)
    expect(host.detail('a')).toMatchObject({ version: '2.0.0', limits: { heapMb: 70 } })
  })

  it('is refused where there is nothing to replace, and gives way to a stop', async () => {
    const { host, rewrite } = await place()
    const a = host.agent('a')
    await rewrite(`await new Promise(() => {})\n${counting(2)}`)
    const reloaded = a.reload()
    await eventually(() => a.snapshot().superseded, 'the new version')
    await expect(a.pause()).rejects.toMatchObject({ code: 'AgentBusy' })
    const stopped = a.stop()
    await expect(reloaded).rejects.toMatchObject({ code: 'Preempted' })
    expect(await stopped).toMatchObject({ phase: 'STOPPED', superseded: false })
    await expect(a.reload()).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: expect.stringMatching(/a start reads the files anew. Valid commands: start, activate/),
    })
    await eventually(() => a.deaths().length === 2, 'the end of both')
  })

  it('keeps a paused agent paused, and its mailbox', async () => {
    const { host, rewrite } = await place()
    const a = host.agent('a')
    await a.pause()
    await a.emit('add', 1)
    await rewrite(counting(2))
    expect(await a.reload()).toMatchObject({ phase: 'PAUSED', mailbox: { depth: 1 }, reload: { replaced: true } })
    await a.resume()
    expect(await a.ask('log')).toEqual([[2, 1]])
  })

  it('takes the new version where the old one dies meanwhile', async () => {
    const { host, rewrite } = await place({ a: { role: counting(1), manifest: { restart: { backoff: 'none' } } } })
    const a = host.agent('a')
    await rewrite(`await new Promise((resolve) => setTimeout(resolve, 400))\n${counting(2)}`)
    const gate = new Gate()
    const died = a.emit('die', gate.cells)
    await eventually(() => gate.reached === 1, 'the handler')
    const reloaded = a.reload()
    await eventually(() => a.snapshot().superseded, 'the new version')
    gate.open()
    expect((await died).fate).toBe('crashed')
    expect(await reloaded).toMatchObject({ reload: { replaced: true } })
    expect(await a.ask('version')).toBe(2)
    await eventually(() => a.phase === 'ACTIVE' && a.snapshot().status === 'Running', 'an instance')
    await a.emit('add', 1)
    expect((await a.ask('log')) as unknown[]).toHaveLength(1)
  })
})

describe('files on disk', () => {
  it('that change are shown, and cordon nothing; a reload takes them up', async () => {
    const { host, dir, rewrite } = await place({ a: { role: counting(1) }, b: { role: counting(1) } })
    const a = host.agent('a')
    expect(await host.changedOnDisk()).toEqual([])
    for (const change of [
      () => rewrite(counting(2)),
      () => writeFile(join(dir, at('a'), '.env'), 'ONE=1'),
      () => rm(join(dir, at('a'), '.env')),
      () => writeFile(join(dir, at('a'), 'agent.yml'), JSON.stringify({ id: 'a', name: 'B' })),
    ]) {
      await change()
      expect(await host.changedOnDisk()).toEqual(['a'])
      expect(a.snapshot()).toMatchObject({ changedOnDisk: true, superseded: false, status: 'Running' })
      expect(await a.emit('add', 1)).toEqual({ fate: 'handled' })
      expect((await a.reload()).changedOnDisk).toBe(false)
      expect(await host.changedOnDisk()).toEqual([])
    }
    await rm(join(dir, at('a'), 'agent.yml'))
    expect(await host.changedOnDisk()).toEqual(['a'])
    await expect(a.reload()).rejects.toMatchObject({ code: 'BootFailed' })
    expect(a.snapshot()).toMatchObject({ status: 'Running', changedOnDisk: true })
  })
})

describe('reload of the fleet', () => {
  const THREE = { a: { role: counting(1) }, b: { role: counting(1) }, c: { role: counting(1) } }

  it('goes in start order and stops at the first that fails, naming the rest', async () => {
    const { host, rewrite } = await place(THREE)
    await rewrite(counting(2), 'a')
    await rewrite("throw new Error('bad')", 'b')
    await rewrite(counting(2), 'c')
    await expect(host.reloadAll()).rejects.toMatchObject({
      code: 'BootFailed',
      message: expect.stringMatching(/agent 'b' was not reloaded.*Not reloaded: c$/s),
      details: { reloaded: [{ id: 'a', replaced: true }], left: ['c'] },
    })
    const versions = await Promise.all(['a', 'b', 'c'].map((id) => host.agent(id).ask('version')))
    expect(versions).toEqual([2, 1, 1])
    await rewrite(counting(3), 'b')
    expect((await host.reloadAll()).agents.map(({ id, replaced }) => [id, replaced])).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
    ])
  })

  it('is refused where holt.yml has changed in what only a start takes up, naming it', async () => {
    const { host, dir } = await place(THREE)
    await writeFile(
      join(dir, 'holt.yml'),
      JSON.stringify({
        supervisor: { id: 'root', strategy: 'one_for_all', intensity: 7 },
        children: [{ agent: at('b'), restart: 'temporary' }, { agent: at('a') }],
        spares: 1,
      }),
    )
    const refused = await host.reloadAll().catch((error) => error)
    expect(refused).toMatchObject({ code: 'RestartNeeded' })
    for (const text of [
      "child 'c' was removed",
      'spares differ',
      'strategy differs',
      'another order',
      "child 'b': restart",
    ])
      expect(refused.message).toContain(text)
    await rm(join(dir, 'holt.yml'))
    await expect(host.reloadAll()).rejects.toMatchObject({ code: 'InvalidManifest' })
  })
})
