/**
 * The works, for any world of actors: who there is, what starts it, and what must come back for it to count. Figures are
 * messages a second; in ping-pong and the ring one at a time is on its way.
 */
import { median } from '../arithmetic.ts'
import type { Effort, Figures } from '../definition.ts'
import { expectHandled } from '../measure.ts'

/** Actors by name, and the messages they send to `main`. */
export interface World {
  /** New actors in place of those before. @param actors kinds by name */
  start(actors: Readonly<Record<string, string>>): Promise<void>
  /** Resolves once more may be sent. */
  send(to: string, message: unknown): void | Promise<void>
  /** The next message to `main`. */
  told(): Promise<unknown>
  stop(): Promise<void>
}

/** How much of each work: actors in threads cost more a message than those in one. */
export interface Sizes {
  readonly counting: number
  readonly pingPong: number
  readonly forkJoin: number
  readonly ring: number
  readonly big: number
  readonly chameneos: number
}

export const ISOLATED: Sizes = { counting: 30_000, pingPong: 300, forkJoin: 2_000, ring: 300, big: 200, chameneos: 500 }
export const TOGETHER: Sizes = {
  counting: 30_000,
  pingPong: 10_000,
  forkJoin: 4_000,
  ring: 15_000,
  big: 2_000,
  chameneos: 8_000,
}

export const WORKERS = 8
const RING = 16
const PEERS = 8
const CREATURES = 8

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const all = (actors: readonly string[], kind: string) => Object.fromEntries(actors.map((name) => [name, kind]))

type Work = (world: World, size: number) => Promise<number>

const WORKS: Readonly<Record<keyof Sizes, { actors: Readonly<Record<string, string>>; run: Work }>> = {
  counting: {
    actors: { counter: 'counter' },
    async run(world, size) {
      for (let n = 0; n < size; n++) {
        const wait = world.send('counter', { type: 'add', n })
        if (wait !== undefined) await wait
      }
      await world.send('counter', { type: 'total' })
      expectHandled(await world.told(), size)
      return size
    },
  },
  pingPong: {
    actors: { pinger: 'pinger', ponger: 'ponger' },
    async run(world, size) {
      await world.send('pinger', { type: 'start', count: size, to: 'ponger' })
      expectHandled(await world.told(), size)
      return size * 2
    },
  },
  forkJoin: {
    actors: all(names('worker', WORKERS), 'counter'),
    async run(world, size) {
      const workers = names('worker', WORKERS)
      for (let n = 0; n < size; n++)
        for (const worker of workers) {
          const wait = world.send(worker, { type: 'add', n })
          if (wait !== undefined) await wait
        }
      for (const worker of workers) await world.send(worker, { type: 'total' })
      for (const _ of workers) expectHandled(await world.told(), size)
      return size * WORKERS
    },
  },
  ring: {
    actors: all(names('node', RING), 'node'),
    async run(world, size) {
      await world.send('node0', { ring: names('node', RING), hops: size })
      await world.told()
      return size
    },
  },
  big: {
    actors: all(names('peer', PEERS), 'big'),
    async run(world, size) {
      const peers = names('peer', PEERS)
      for (const self of peers) await world.send(self, { type: 'start', count: size, all: peers, self })
      for (const _ of peers) expectHandled(await world.told(), size)
      return size * PEERS * 2
    },
  },
  chameneos: {
    actors: { mall: 'mall', ...all(names('creature', CREATURES), 'creature') },
    async run(world, size) {
      await world.send('mall', { type: 'start', count: size })
      for (const [colour, self] of names('creature', CREATURES).entries())
        await world.send(self, { type: 'start', colour: colour % 3, self })
      let met = 0
      for (let i = 0; i < CREATURES; i++) met += Number(await world.told())
      expectHandled(met, size * 2)
      return size * 4
    },
  },
}

/** Every work, with new actors each time: once to warm up, then timed. */
export async function savinaOf(world: World, sizes: Sizes, effort: Effort): Promise<Figures> {
  const figures: Record<string, number> = {}
  for (const key of Object.keys(WORKS) as (keyof Sizes)[]) {
    const { actors, run } = WORKS[key]
    const rates: number[] = []
    for (let repeat = 0; repeat <= effort.repeats; repeat++) {
      const size = Math.max(20, Math.round(sizes[key] * effort.share * (repeat === 0 ? 0.5 : 1)))
      await world.start(actors)
      const start = performance.now()
      const messages = await run(world, size)
      if (repeat > 0) rates.push((messages / (performance.now() - start)) * 1000)
    }
    figures[key] = median(rates)
  }
  await world.stop()
  return figures
}
