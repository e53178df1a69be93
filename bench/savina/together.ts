/** Worlds in which all actors are in one thread: nact, XState, comedy in memory. */
import { actorOf, type Send } from './behaviours.mjs'
import { Told } from './isolated.ts'
import type { World } from './works.ts'

type Handle = (message: unknown) => void
/** How a library makes an actor of a function, and sends to it. */
interface Library {
  actor(handle: Handle): Promise<Handle> | Handle
  stop(): unknown
}

export class TogetherWorld implements World {
  readonly #library: Library
  readonly #told = new Told()
  #actors = new Map<string, Handle>()

  constructor(library: Library) {
    this.#library = library
  }

  async start(actors: Readonly<Record<string, string>>): Promise<void> {
    this.#actors = new Map()
    const send: Send = (to, message) => {
      if (to === 'main') this.#told.add(message)
      else this.#actors.get(to)!(message)
    }
    for (const [name, kind] of Object.entries(actors)) {
      const behave = actorOf(kind)
      this.#actors.set(name, await this.#library.actor((message) => behave(message, send)))
    }
  }

  send(to: string, message: unknown): void {
    this.#actors.get(to)!(message)
  }

  told(): Promise<unknown> {
    return this.#told.next()
  }

  async stop(): Promise<void> {
    await this.#library.stop()
  }
}

export async function nact(): Promise<Library> {
  const { dispatch, spawn, start, stop } = await import('nact')
  const system = start()
  return {
    actor(handle) {
      const ref = spawn(system, async (_state: unknown, message: unknown) => handle(message))
      return (message) => dispatch(ref, message as never)
    },
    stop: () => stop(system),
  }
}

export async function xstate(): Promise<Library> {
  const { createActor, fromTransition } = await import('xstate')
  return {
    actor(handle) {
      const logic = fromTransition((state: null, event: { readonly type: 'm'; readonly message: unknown }) => {
        handle(event.message)
        return state
      }, null)
      const actor = createActor(logic).start()
      return (message) => actor.send({ type: 'm', message })
    },
    stop() {},
  }
}

interface ComedyActor {
  createChild(definition: object, options?: object): Promise<ComedyActor>
  send(topic: string, message: unknown): Promise<void>
  sendAndReceive(topic: string, message?: unknown): Promise<unknown>
}

export interface ComedySystem {
  rootActor(): Promise<ComedyActor>
  destroy(): Promise<void>
}

export async function comedySystem(): Promise<ComedySystem> {
  const name: string = 'comedy'
  const { default: comedy } = (await import(name)) as { default: { createSystem(options: object): ComedySystem } }
  const silent = { error() {}, warn() {}, info() {}, debug() {} }
  return comedy.createSystem({ log: silent })
}

export async function comedy(): Promise<Library> {
  const system = await comedySystem()
  const root = await system.rootActor()
  return {
    async actor(handle) {
      const child = await root.createChild({ m: handle })
      return (message) => void child.send('m', message)
    },
    stop: () => system.destroy(),
  }
}
