/** Who is told of whose death: once a watch, by the first death after it, and only while the watcher lives. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../../src/actors/agent.ts'
import { Watches } from '../../src/actors/watches.ts'
import type { DeathRecord } from '../../src/model/death.ts'
import type { Down } from '../../src/model/message.ts'

/** What `Watches` sees of an agent; the test has it live and die. */
class PlayedAgent {
  readonly id: string
  instance: { id: string } | null = null
  phase = 'STOPPED'
  lastDeath: DeathRecord | null = null
  readonly told: Down[] = []
  readonly inbox = { notify: (name: string, down: Down) => void (name === 'down' && this.told.push(down)) }
  readonly #watches: Watches
  #lives = 0

  constructor(id: string, watches: Watches) {
    this.id = id
    this.#watches = watches
  }

  get it(): Agent {
    return this as unknown as Agent
  }

  start(): this {
    this.instance = { id: `${this.id}-${++this.#lives}` }
    this.phase = 'ACTIVE'
    return this
  }

  /** As an agent does it: the instance is gone and the record is there when watchers are told. */
  die(): DeathRecord {
    const instance = this.instance?.id ?? `${this.id}-${++this.#lives}`
    this.instance = null
    this.phase = 'STOPPED'
    this.lastDeath = { id: `d-${instance}`, agent: this.id, instance } as DeathRecord
    this.#watches.onDeath(this.it, this.lastDeath)
    return this.lastDeath
  }

  watch(target: PlayedAgent): void {
    this.#watches.watch(this.it, target.it)
  }

  unwatch(target: PlayedAgent): void {
    this.#watches.unwatch(this.it, target.id)
  }
}

function played(...ids: string[]): PlayedAgent[] {
  const watches = new Watches()
  return ids.map((id) => new PlayedAgent(id, watches))
}

const instances = ({ told }: PlayedAgent): (string | null)[] => told.map(({ instance }) => instance)

describe('a watch', () => {
  it('is answered by the first death, with its record, and by no other', () => {
    const [a, b] = played('a', 'b') as [PlayedAgent, PlayedAgent]
    a.start().watch(b.start())
    const record = b.die()
    expect(a.told).toEqual([{ agent: 'b', instance: 'b-1', record }])
    b.start().die()
    expect(a.told).toHaveLength(1)
  })

  it('of an agent that boots waits for that boot to end', () => {
    const [a, b] = played('a', 'b') as [PlayedAgent, PlayedAgent]
    b.phase = 'BOOTING'
    a.start().watch(b)
    expect(a.told).toEqual([])
    b.die()
    expect(instances(a)).toEqual(['b-1'])
  })

  it('of a dead agent is answered at once, once for each death', () => {
    const [a, b] = played('a', 'b') as [PlayedAgent, PlayedAgent]
    a.start().watch(b)
    a.watch(b)
    expect(a.told).toEqual([{ agent: 'b', instance: null, record: null }])
    b.start().die()
    expect(instances(a)).toEqual([null, 'b-1'])
    a.watch(b)
    expect(a.told).toHaveLength(2)
    b.start().die()
    expect(instances(a)).toEqual([null, 'b-1', 'b-2'])
  })

  it('by a successor is answered at once, though the one before had been told', () => {
    const [a, b] = played('a', 'b') as [PlayedAgent, PlayedAgent]
    b.start().die()
    a.start().watch(b)
    a.die()
    a.start().watch(b)
    expect(instances(a)).toEqual(['b-1', 'b-1'])
  })

  it('is gone with the instance that asked for it, and so is one of its own death', () => {
    const [a, b] = played('a', 'b') as [PlayedAgent, PlayedAgent]
    a.start().watch(b.start())
    a.watch(a)
    a.die()
    a.start()
    b.die()
    expect(a.told).toEqual([])
  })

  it('of an agent that is not there to be told is none', () => {
    const [a, b] = played('a', 'b') as [PlayedAgent, PlayedAgent]
    a.watch(b.start())
    a.start()
    b.die()
    expect(a.told).toEqual([])
  })
})

describe('any order of watches, deaths and starts', () => {
  type Step = readonly [what: 'watch' | 'unwatch' | 'start' | 'die', who: number, whom: number]
  const IDS = ['a', 'b', 'c']
  const steps = fc.array(
    fc.tuple(
      fc.constantFrom('watch', 'unwatch', 'start', 'die') as fc.Arbitrary<Step[0]>,
      fc.nat(IDS.length - 1),
      fc.nat(IDS.length - 1),
    ),
    { maxLength: 60 },
  )

  /** What each is to be told: the plain rule, kept in lists. */
  class Model {
    readonly told: [who: number, instance: string | null][] = []
    #open: { who: number; whom: number }[] = []
    readonly #known = new Map<string, string | null>()
    readonly lives = IDS.map(() => ({ count: 0, alive: false, last: null as string | null }))

    apply([what, who, whom]: Step): void {
      const target = this.lives[whom]!
      const self = this.lives[who]!
      if (what === 'start' && !self.alive) Object.assign(self, { alive: true, count: self.count + 1 })
      if (what === 'unwatch') this.#open = this.#open.filter((one) => one.who !== who || one.whom !== whom)
      if (what === 'watch' && self.alive) {
        const known = this.#known.has(`${who}:${self.count}:${whom}`)
          ? this.#known.get(`${who}:${self.count}:${whom}`)
          : undefined
        if (!target.alive && known !== target.last) this.#tell(who, whom)
        else this.#open.push({ who, whom })
      }
      if (what === 'die' && self.alive) {
        Object.assign(self, { alive: false, last: `${IDS[who]}-${self.count}` })
        const due = this.#open.filter((one) => one.whom === who && one.who !== who)
        this.#open = this.#open.filter((one) => one.whom !== who && one.who !== who)
        for (const one of due) this.#tell(one.who, who)
      }
    }

    #tell(who: number, whom: number): void {
      const { last } = this.lives[whom]!
      this.#known.set(`${who}:${this.lives[who]!.count}:${whom}`, last)
      this.told.push([who, last])
    }
  }

  it('tells each watch at most once, of the right instance, in order', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const agents = played(...IDS)
        const model = new Model()
        for (const step of all) {
          const [what, who, whom] = step
          const self = agents[who]!
          if (what === 'start' && self.instance === null) self.start()
          if (what === 'die' && self.instance !== null) self.die()
          if (what === 'watch') self.watch(agents[whom]!)
          if (what === 'unwatch') self.unwatch(agents[whom]!)
          model.apply(step)
        }
        for (const [who, agent] of agents.entries())
          expect(instances(agent)).toEqual(model.told.filter(([to]) => to === who).map(([, instance]) => instance))
      }),
      { numRuns: 500 },
    )
  })
})
