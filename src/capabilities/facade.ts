/**
 * The facade: what of a capability an agent may touch. A frozen object without a prototype that holds the granted
 * methods and nothing else, so that there is no path from it to the object behind it. Built anew for every loan.
 */
import type { Methods } from './contract.ts'

export type Callable = (...args: unknown[]) => unknown
export type Facade = Readonly<Record<string, Callable>>

/** The granted methods of `methods`, which stays their `this`. Names that are granted but do not exist are left out. */
export function createFacade(methods: Methods, allow: readonly string[]): Facade {
  const facade: Record<string, Callable> = Object.create(null)
  for (const name of allow) {
    if (!Object.hasOwn(methods, name)) continue
    const method = methods[name] as Callable
    facade[name] = Object.freeze((...args: unknown[]): unknown => Reflect.apply(method, methods, args))
  }
  return Object.freeze(facade)
}
