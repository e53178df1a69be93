/** Restart type by cause by strategy, on a whole host: who comes back, and which siblings are ended along with it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { classOf, type DeathCause } from '../../src/model/death.ts'
import { RESTART_TYPES, type RestartType } from '../../src/supervisor/restart.ts'
import { STRATEGIES, type Strategy } from '../../src/supervisor/strategy.ts'
import { agent, fleetOf, type TestedFleet, under, WIDE } from './fleet.ts'

const LIMITS = { handlerTimeoutMs: 1000, bootTimeoutMs: 2000, stopTimeoutMs: 500 } as const
/** A handler that never ends. */
const FOREVER = { role: { events: { work: () => new Promise(() => {}) } } } as const

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holt-matrix-'))
  await mkdir(join(dir, 'agents/it'), { recursive: true })
  const manifest = { id: 'it', name: 'it', roles: ['role.js'], limits: LIMITS, restart: { backoff: 'none' } }
  await writeFile(join(dir, 'agents/it/agent.yml'), JSON.stringify(manifest))
  await writeFile(join(dir, 'agents/it/role.js'), '')
  await writeFile(join(dir, 'role.js'), '')
})
afterAll(() => rm(dir, { recursive: true, force: true }))

/** How `it` is brought to an end of each cause, and whether by a command. */
const WAYS: Readonly<Partial<Record<DeathCause, (fleet: TestedFleet) => Promise<unknown>>>> = {
  normal: (fleet) => fleet.have('it', 'stop'),
  crash: (fleet) => fleet.have('it', 'crash'),
  exit: async ({ kit }) => kit.threads.of('it').exit(0),
  out_of_memory: (fleet) => fleet.have('it', 'outOfMemory'),
  unresponsive: (fleet) => fleet.have('it', 'hang', 20_000),
  killed: (fleet) => fleet.command('it', 'kill'),
  handler_timeout: async ({ host, kit }) => {
    host.agent('it').tell('work')
    await kit.advance(2000)
  },
  boot_failed: (fleet) => badRestart(fleet, { boot: { step: 'roles', error: new Error('not today') } }),
  start_timeout: (fleet) => badRestart(fleet, { boot: 'never' }),
  shutdown_timeout: async ({ kit }) => {
    const thread = kit.threads.of('it')
    thread.behaviour = { ...thread.behaviour, stubborn: true }
    thread.stop()
    await kit.advance(1000)
  },
  shutdown: (fleet) => fleet.command('it', 'stop'),
  suspended: (fleet) => fleet.command('it', 'suspend'),
}

const BY_COMMAND: readonly DeathCause[] = ['shutdown', 'suspended']

/** Its second boot goes wrong, asked for by an operator. */
async function badRestart(fleet: TestedFleet, behaviour: object): Promise<void> {
  fleet.kit.threads.behave('it', (incarnation) => (incarnation === 2 ? behaviour : FOREVER))
  await expect(fleet.command('it', 'restart')).rejects.toMatchObject({ code: 'BootFailed' })
}

const manifestOf = (id: string) => ({ id, name: id, roles: ['role.js'] })

async function siblingsAnd(strategy: Strategy, type: RestartType): Promise<TestedFleet> {
  const options = { baseDir: dir, behaviours: { it: FOREVER } }
  if (strategy !== 'dynamic') {
    const middle = agent('it', { restart: type }, { ...manifestOf('it'), limits: LIMITS })
    const [before, after] = ['before', 'after'].map((id) => agent(id, {}, manifestOf(id)))
    return fleetOf({ strategy, ...WIDE }, [before!, middle, after!], options)
  }
  const fleet = await fleetOf({ strategy, ...WIDE }, undefined, options)
  for (const [id, restart] of [
    ['before', 'permanent'],
    ['it', type],
    ['after', 'permanent'],
  ] as const) {
    await fleet.kit.finish(fleet.host.spawn('root', { agent: 'agents/it', id, restart }))
  }
  return fleet
}

const ENDED_ALONG: Readonly<Record<Strategy, readonly string[]>> = {
  one_for_one: [],
  one_for_all: ['before', 'after'],
  rest_for_one: ['after'],
  dynamic: [],
}

describe('an agent', () => {
  const cells = STRATEGIES.flatMap((strategy) =>
    RESTART_TYPES.flatMap((type) => (Object.keys(WAYS) as DeathCause[]).map((cause) => ({ strategy, type, cause }))),
  )

  it.each(cells)('$strategy, $type, $cause', async ({ strategy, type, cause }) => {
    const fleet = await siblingsAnd(strategy, type)
    await WAYS[cause]!(fleet)
    await fleet.kit.advance(0)
    const record = fleet.host.deaths().find((death) => death.agent === 'it' && death.cause === cause)!
    const commanded = BY_COMMAND.includes(cause)
    const back = !commanded && (type === 'permanent' || (type === 'transient' && classOf(cause) === 'crash'))
    expect(record).toMatchObject({
      class: classOf(cause),
      decision: {
        rule: commanded ? 'command' : 'restart_type',
        action: back ? 'restart' : 'none',
        supervisor: 'root',
        ...(commanded ? { by: 'ops' } : {}),
      },
    })
    const gone = strategy === 'dynamic' && !back && !commanded
    expect(fleet.host.agents().map(({ id }) => id)).toEqual(gone ? ['before', 'after'] : ['before', 'it', 'after'])
    expect(fleet.up()).toBe(back ? 'before it after' : 'before after')
    for (const id of ['before', 'after']) {
      const along = back && ENDED_ALONG[strategy].includes(id)
      const deaths = along ? [{ cause: 'shutdown', decision: { rule: 'strategy', action: 'restart', by: 'it' } }] : []
      expect(fleet.host.deaths(id)).toMatchObject(deaths)
      expect(fleet.host.deaths(id)).toHaveLength(deaths.length)
    }
    expect(Object.values(fleet.threads())).toEqual(back ? [1, 1, 1] : [1, 1])
  })
})

describe('a supervisor', () => {
  const cells = (['one_for_one', 'one_for_all', 'rest_for_one'] as const).flatMap((strategy) =>
    RESTART_TYPES.flatMap((type) =>
      (['restart_intensity', 'shutdown'] as const).map((cause) => ({ strategy, type, cause })),
    ),
  )

  it.each(cells)('$strategy, $type, $cause', async ({ strategy, type, cause }) => {
    const [before, after] = ['before', 'after'].map((id) => agent(id))
    const options = { id: 'inner', intensity: 0, auto_shutdown: 'any_significant' } as const
    const it = [agent('main', { restart: 'transient', significant: true }), agent('other')]
    const fleet = await fleetOf({ strategy, ...WIDE }, [before!, under(options, it, { restart: type }), after!])
    // A crash is one restart too many; a normal end of the significant one ends the supervisor in good order.
    await fleet.have('main', cause === 'shutdown' ? 'stop' : 'crash')
    const back = type === 'permanent' || (type === 'transient' && classOf(cause) === 'crash')
    expect(fleet.up()).toBe(back ? 'before main other after' : 'before after')
    for (const id of ['before', 'after'])
      expect(fleet.causes(id)).toEqual(back && ENDED_ALONG[strategy].includes(id) ? ['shutdown'] : [])
    expect(fleet.decision('other')).toMatchObject({ rule: 'supervisor', action: 'none', by: 'inner' })
    const { end, status } = fleet.supervisor('inner')
    expect(status).toBe(back ? 'Running' : 'Stopped')
    if (back) expect(end).toBeUndefined()
    else expect(end).toMatchObject({ cause, decision: { rule: 'restart_type', action: 'none', supervisor: 'root' } })
  })
})
