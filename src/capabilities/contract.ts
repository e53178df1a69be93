/**
 * The contract of a capability, published as `holt/capability`: what the host lends to agents, by grant. A capability
 * file's default export is what `defineCapability` returns.
 */

/** What a capability may use while it boots. */
export interface CapabilityContext {
  readonly log: {
    info(text: string, data?: unknown): void
    warn(text: string, data?: unknown): void
    error(text: string, data?: unknown): void
  }
}

export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>

/**
 * Where it runs: `host`, one object in the host, called by proxy; `pool`, pure functions on a pool of threads;
 * `agent`, an object in each agent's own thread.
 */
export type Placement = 'host' | 'pool' | 'agent'

export interface CapabilityDefinition<M extends Methods> {
  /** `^[a-z][a-z0-9-]{0,62}$` */
  readonly id: string
  readonly placement: Placement
  readonly methods: M
  /** Before the first call: `host` once, `agent` once a thread. Not run for `pool`, whose methods keep no state. */
  boot?(ctx: CapabilityContext): unknown
  /** After the last call. */
  shutdown?(): unknown
}

export interface Capability<M extends Methods = Methods> extends CapabilityDefinition<M> {}

/** Declares a capability: `export default defineCapability({ id, placement, methods })`. */
export function defineCapability<M extends Methods>(definition: CapabilityDefinition<M>): Capability<M> {
  return Object.freeze({ ...definition, methods: Object.freeze({ ...definition.methods }) })
}
