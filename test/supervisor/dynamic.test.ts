/** Children of a dynamic supervisor: added, counted, ended, and gone without a trace but their records. On the testkit. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { FleetObject } from '../../src/manifest/fleet-manifest.ts'
import type { SpawnOptions } from '../../src/model/spawn.ts'
import { createTestHost, probe, type TestHostOptions } from '../../src/testkit/index.ts'
import { TestedFleet, WIDE } from './fleet.ts'

const WORKER = 'agents/worker'
const refused = (text: string) => ({ boot: { step: 'roles', error: new Error(text) } }) as const

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holt-dynamic-'))
  for (const [id, manifest] of Object.entries({
    worker: { restart: { backoff: 'none' }, limits: { stopTimeoutMs: 1000 } },
    wrong: { limits: { heapMb: -1 } },
  })) {
    await mkdir(join(dir, 'agents', id), { recursive: true })
    const text = JSON.stringify({ id, name: id, roles: ['role.js'], ...manifest })
    await writeFile(join(dir, 'agents', id, 'agent.yml'), text)
    await writeFile(join(dir, 'agents', id, 'role.js'), '')
  }
  await writeFile(join(dir, 'role.js'), '')
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const fixed = { agent: { id: 'fixed', name: 'fixed', roles: ['role.js'] } }

class Pool extends TestedFleet {
  spawn(options: Partial<SpawnOptions> = {}, supervisor = 'pool') {
    return this.kit.finish(this.host.spawn(supervisor, { agent: WORKER, ...options }))
  }

  get ids(): string[] {
    return this.host.agents().map(({ id }) => id)
  }
}

/** A fleet with one fixed agent and an empty pool beside it. */
async function poolOf(
  pool: Partial<NonNullable<FleetObject['supervisor']>> = {},
  options: Partial<TestHostOptions> = {},
): Promise<Pool> {
  const supervisor = { id: 'pool', strategy: 'dynamic', backoff: 'none', ...WIDE, ...pool } as const
  const fleet = { supervisor: { id: 'root', ...WIDE }, children: [fixed, { supervisor }] }
  const kit = await createTestHost({ fleet, baseDir: dir, ...options })
  onTestFinished(() => kit.close())
  return new Pool(kit)
}

describe('ids', () => {
  it('are the one that is given, or the next free one from the manifest', async () => {
    const pool = await poolOf()
    expect((await pool.spawn()).id).toBe('worker')
    expect((await pool.spawn()).id).toBe('worker-2')
    expect((await pool.spawn({ id: 'mine' })).id).toBe('mine')
    expect((await pool.spawn({ id: 'worker-3' })).id).toBe('worker-3')
    expect((await pool.spawn()).id).toBe('worker-4')
    expect(pool.ids).toEqual(['fixed', 'worker', 'worker-2', 'mine', 'worker-3', 'worker-4'])
    expect(pool.up().split(' ')).toHaveLength(6)
  })

  it.each(['worker', 'fixed', 'pool', 'root'])("that are another's are refused: %s", async (id) => {
    const pool = await poolOf()
    await pool.spawn()
    await expect(pool.spawn({ id })).rejects.toMatchObject({ code: 'IdTaken' })
  })

  it('of those that have gone are free again, and the new one is another', async () => {
    const pool = await poolOf()
    const first = await pool.spawn()
    await pool.command('worker', 'pause')
    await pool.kit.finish(pool.host.remove('worker'))
    const second = await pool.spawn()
    expect(second.id).toBe('worker')
    expect(second.instance).not.toBe(first.instance)
    // Nothing of what was said to the old one holds for it.
    expect(pool.snapshot('worker')).toMatchObject({ phase: 'ACTIVE', admission: 'open', restarts: 0 })
  })

  it('asked for at the same time are two', async () => {
    const pool = await poolOf()
    const spawned = [pool.host.spawn('pool', { agent: WORKER }), pool.host.spawn('pool', { agent: WORKER })]
    expect((await pool.kit.finish(Promise.all(spawned))).map(({ id }) => id)).toEqual(['worker', 'worker-2'])
  })
})

describe('maxChildren', () => {
  it('is reached and not passed, also by those who ask at the same time', async () => {
    const pool = await poolOf({ maxChildren: 2 })
    await pool.spawn()
    const asked = [1, 2, 3].map(() => pool.host.spawn('pool', { agent: WORKER }))
    const settled = await pool.kit.finish(Promise.allSettled(asked))
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    await expect(pool.spawn()).rejects.toMatchObject({
      code: 'TooManyChildren',
      message: "supervisor 'pool' has 2 children, its maxChildren is 2",
    })
  })

  it('has room again when one has ended, was removed, or did not boot', async () => {
    const pool = await poolOf({ maxChildren: 1 }, { behaviours: { worker: (n) => (n === 1 ? refused('no') : {}) } })
    await expect(pool.spawn()).rejects.toMatchObject({ code: 'BootFailed' })
    await pool.spawn({ restart: 'temporary' })
    await pool.have('worker', 'crash')
    await pool.spawn()
    await pool.kit.finish(pool.host.remove('worker'))
    expect((await pool.spawn()).id).toBe('worker')
  })
})

describe('a boot that fails', () => {
  it('adds nothing: no child, no id, no thread, and says why', async () => {
    const pool = await poolOf({}, { behaviours: { worker: refused('no database') } })
    await expect(pool.spawn()).rejects.toMatchObject({
      code: 'BootFailed',
      message: expect.stringMatching(/^agent 'worker' did not start at step 'roles', and was not added: .*no database/),
      details: { record: { agent: 'worker', cause: 'boot_failed' } },
    })
    await pool.kit.advance(60_000)
    expect(pool.ids).toEqual(['fixed'])
    expect(pool.threads()).toEqual({ fixed: 1 })
    expect(() => pool.host.agent('worker')).toThrow(/no agent 'worker'/)
  })

  it("costs nothing of the supervisor's budget, and is not tried again", async () => {
    const pool = await poolOf({ intensity: 1, periodMs: 60_000 }, { behaviours: { bad: refused('no') } })
    await pool.spawn()
    for (let n = 0; n < 5; n++) await expect(pool.spawn({ id: 'bad' })).rejects.toMatchObject({ code: 'BootFailed' })
    await pool.kit.advance(60_000)
    expect(pool.kit.threads.all('bad')).toHaveLength(5)
    expect(pool.up()).toBe('fixed worker')
    expect(pool.supervisor('pool')).toMatchObject({ status: 'Running', restarts: 0 })
  })

  it('runs into its time-out', async () => {
    const pool = await poolOf({}, { behaviours: { worker: { boot: 'never' } } })
    await expect(pool.spawn()).rejects.toMatchObject({ details: { record: { cause: 'start_timeout' } } })
    expect(pool.ids).toEqual(['fixed'])
  })

  it.each([
    [{ agent: 'agents/wrong' }, /heapMb/],
    [{ agent: 'agents/nobody' }, /agents.nobody/],
    [{ agent: '../elsewhere' }, /elsewhere/],
    [{ id: 'Not an id' }, /id/],
    [{ restart: 'sometimes' as never }, /restart/],
  ])('%j is refused before anything is added', async (options, message) => {
    const pool = await poolOf()
    await expect(pool.spawn(options)).rejects.toMatchObject({
      code: 'InvalidManifest',
      message: expect.stringMatching(message),
    })
    expect(pool.ids).toEqual(['fixed'])
  })
})

describe('a child that has ended', () => {
  it.each([
    ['temporary', 'stop', true],
    ['temporary', 'crash', true],
    ['transient', 'stop', true],
    ['transient', 'crash', false],
    ['permanent', 'stop', false],
    ['permanent', 'crash', false],
  ] as const)('%s, by %s, is taken out: %s', async (restart, act, gone) => {
    const pool = await poolOf()
    await pool.spawn({ restart })
    await pool.have('worker', act)
    expect(pool.ids).toEqual(gone ? ['fixed'] : ['fixed', 'worker'])
    expect(pool.threads()).toEqual(gone ? { fixed: 1 } : { fixed: 1, worker: 1 })
  })

  it('and is taken out leaves its records, and its messages as dead letters', async () => {
    const pool = await poolOf()
    await pool.spawn({ restart: 'temporary' })
    const letters = probe(pool.host.deadLetters$)
    const phases: string[] = []
    let completed = false
    pool.host.agent('worker').phase$.subscribe({
      next: (phase) => phases.push(phase),
      complete: () => {
        completed = true
      },
    })
    await pool.command('worker', 'pause')
    for (const n of [1, 2]) pool.host.agent('worker').tell('note', n)
    await pool.have('worker', 'crash')
    expect(letters.seen).toMatchObject([
      { agent: 'worker', name: 'note', reason: 'purged', payload: 1 },
      { agent: 'worker', name: 'note', reason: 'purged', payload: 2 },
    ])
    expect(pool.host.deaths()).toMatchObject([{ agent: 'worker', cause: 'crash', decision: { rule: 'restart_type' } }])
    expect(pool.facts('agent.removed')).toMatchObject([{ agent: 'worker', data: { supervisor: 'pool' } }])
    expect([phases.at(-1), completed]).toEqual(['STOPPED', true])
  })

  it('by an operator stays, stopped, until it is started or removed', async () => {
    const pool = await poolOf()
    await pool.spawn({ restart: 'temporary' })
    await pool.command('worker', 'stop')
    await pool.kit.advance(60_000)
    expect(pool.ids).toEqual(['fixed', 'worker'])
    await pool.command('worker', 'start')
    expect(pool.up()).toBe('fixed worker')
  })

  it('that a limit has stopped stays, to be looked at and started', async () => {
    const pool = await poolOf()
    await pool.spawn()
    for (let n = 0; n < 4; n++) await pool.have('worker', 'outOfMemory')
    expect(pool.decision('worker')).toMatchObject({ rule: 'restart_limit' })
    expect(pool.ids).toEqual(['fixed', 'worker'])
  })

  it('is restarted alone, and counts for the budget of all', async () => {
    const pool = await poolOf({ intensity: 1, periodMs: 60_000 })
    await pool.spawn()
    await pool.spawn()
    await pool.have('worker', 'crash')
    expect(pool.up()).toBe('fixed worker worker-2')
    pool.moves()
    await pool.have('worker-2', 'crash')
    expect(pool.moves()).toEqual(['worker-2 ended', 'worker ended'])
    // It gave up, its parent started it anew, and as in OTP what was added at run time is not there any more.
    expect(pool.ids).toEqual(['fixed'])
    expect(pool.supervisor('pool').status).toBe('Running')
    expect((await pool.spawn()).id).toBe('worker')
  })
})

describe('remove', () => {
  it('ends the child in its own time and takes it out', async () => {
    const pool = await poolOf({}, { behaviours: { worker: { stopMs: 3000 } } })
    await pool.spawn({ shutdown: 4000 })
    const began = pool.kit.clock.now()
    await pool.kit.finish(pool.host.remove('worker'))
    expect(pool.kit.clock.now() - began).toBe(3000)
    expect(pool.ids).toEqual(['fixed'])
    expect(pool.host.deaths()).toMatchObject([{ cause: 'shutdown', decision: { rule: 'command', by: 'program' } }])
  })

  it.each([
    ['its manifest', {}, 1000, 'shutdown_timeout'],
    ['brutal_kill', { shutdown: 'brutal_kill' }, 0, 'shutdown'],
    ['infinity', { shutdown: 'infinity' }, 3000, 'shutdown'],
  ] as const)('by %s', async (_, options, afterMs, cause) => {
    const pool = await poolOf({}, { behaviours: { worker: { stopMs: 3000 } } })
    await pool.spawn(options)
    const began = pool.kit.clock.now()
    await pool.kit.finish(pool.host.remove('worker'))
    expect(pool.kit.clock.now() - began).toBe(afterMs)
    expect(pool.host.deaths()).toMatchObject([{ cause }])
  })

  it('takes out one that is booting, in back-off, or stopped', async () => {
    const pool = await poolOf()
    await pool.spawn({ id: 'booting' })
    await pool.spawn({ id: 'stopped' })
    await pool.command('stopped', 'stop')
    pool.kit.threads.behave('booting', { boot: 'never' })
    await pool.have('booting', 'crash')
    expect(pool.phases()).toMatchObject({ booting: 'BOOTING', stopped: 'STOPPED' })
    for (const id of ['booting', 'stopped']) await pool.kit.finish(pool.host.remove(id))
    await pool.kit.advance(60_000)
    expect(pool.ids).toEqual(['fixed'])
    expect(pool.threads()).toEqual({ fixed: 1 })
  })

  it('keeps one whose thread cannot be ended', async () => {
    const pool = await poolOf({}, { behaviours: { worker: { unkillable: true, stubborn: true } } })
    await pool.spawn()
    await expect(pool.kit.finish(pool.host.remove('worker'))).rejects.toMatchObject({ code: 'Unkillable' })
    expect(pool.ids).toEqual(['fixed', 'worker'])
    expect(pool.snapshot('worker').unkillable).toBe(true)
  })

  it('is refused for any other child, and for nobody', async () => {
    const pool = await poolOf()
    await expect(pool.host.remove('fixed')).rejects.toMatchObject({
      code: 'NoSuchSupervisor',
      message:
        "supervisor 'root' is one_for_one, and only a dynamic one gains children at run time; dynamic ones: pool",
    })
    expect(() => pool.host.remove('nobody')).toThrow(/no agent 'nobody'/)
  })
})

describe('the supervisor', () => {
  it('that is stopped removes its children, in reverse', async () => {
    const pool = await poolOf()
    for (const id of ['one', 'two', 'three']) await pool.spawn({ id })
    pool.moves()
    await pool.command('pool', 'stop')
    expect(pool.moves()).toEqual(['three ended', 'two ended', 'one ended'])
    expect(pool.ids).toEqual(['fixed'])
    expect(pool.facts('agent.removed').map((fact) => fact.agent)).toEqual(['three', 'two', 'one'])
    await pool.command('pool', 'start')
    expect(pool.ids).toEqual(['fixed'])
  })

  it('takes nobody in while it is stopped, or the host shuts down', async () => {
    const pool = await poolOf()
    await pool.command('pool', 'stop')
    await expect(pool.spawn()).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: "supervisor 'pool' is Stopped: `holt start pool` has it supervise again",
    })
    await pool.command('pool', 'start')
    const ending = pool.host.shutdown()
    await expect(pool.spawn()).rejects.toMatchObject({ code: 'ShuttingDown' })
    await pool.kit.finish(ending)
  })

  it.each([
    ['pol', "there is no supervisor 'pol'; did you mean 'pool'?"],
    ['quite-another', "there is no supervisor 'quite-another'; dynamic ones: pool"],
    ['fixed', "there is no supervisor 'fixed'; dynamic ones: pool"],
    ['root', "supervisor 'root' is one_for_one, and only a dynamic one gains children at run time; dynamic ones: pool"],
  ])('has to be a dynamic one: %s', async (to, message) => {
    const pool = await poolOf()
    await expect(pool.spawn({}, to)).rejects.toMatchObject({ code: 'NoSuchSupervisor', message })
  })

  it.each([0, 1, 2, 3, 4, 5])(
    'stopped in the middle of a spawn, %i turns into it, leaves nobody behind',
    async (turns) => {
      const pool = await poolOf()
      const spawning = pool.host.spawn('pool', { agent: WORKER }).then(
        () => 'added',
        (error: { code: string }) => error.code,
      )
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      await pool.command('pool', 'stop')
      expect(['added', 'InvalidCommand', 'BootFailed']).toContain(await pool.kit.finish(spawning))
      await pool.kit.advance(60_000)
      expect(pool.ids).toEqual(['fixed'])
      expect(pool.threads()).toEqual({ fixed: 1 })
    },
  )

  it('may be the root itself', async () => {
    const fleet = { supervisor: { id: 'root', strategy: 'dynamic' } } as const
    const kit = await createTestHost({ fleet, baseDir: dir })
    onTestFinished(() => kit.close())
    const pool = new Pool(kit)
    await pool.spawn({}, 'root')
    expect(pool.up()).toBe('worker')
  })
})
