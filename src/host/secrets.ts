/**
 * Values that are never to be shown: those of the `.env` files of a host. Told by the boot of each agent; asked wherever
 * text leaves the host (output, log, facts, death records). Pure but for what it has been told.
 */

/** Shorter values are not looked for: they would be found in every other line. */
export const MIN_SECRET_LENGTH = 8
export const REDACTED = '[redacted]'

/** As deep as data is looked into; what lies deeper is left out. */
const MAX_DEPTH = 32

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

export class Secrets {
  readonly #known = new Set<string>()
  /** Null while there are none: nothing is looked for. */
  #pattern: RegExp | null = null

  /** Values that are secret from now on, for as long as the host lives, also when a file no longer has them. */
  learn(values: Iterable<string>): void {
    const before = this.#known.size
    for (const value of values) for (const form of formsOf(value)) this.#known.add(form)
    if (this.#known.size === before) return
    // The longest first: one that begins with another is replaced whole.
    const forms = [...this.#known].sort((a, b) => b.length - a.length)
    this.#pattern = new RegExp(forms.map(escaped).join('|'), 'g')
  }

  /** The text without them. */
  hide(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, REDACTED)
  }

  /** Data with every text in it, keys too, without them; the same value where there are no secrets. */
  hideIn<T>(data: T): T {
    return this.#pattern === null ? data : (this.#copy(data, new Map(), 0) as T)
  }

  #copy(value: unknown, seen: Map<object, unknown>, depth: number): unknown {
    if (typeof value === 'string') return this.hide(value)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return seen.get(value)
    if (depth >= MAX_DEPTH) return '[too deep]'
    const inner = (one: unknown): unknown => this.#copy(one, seen, depth + 1)
    if (Array.isArray(value)) return filled(value, seen, [] as unknown[], (list) => void list.push(...value.map(inner)))
    if (value instanceof Map) {
      return filled(value, seen, new Map(), (map) => {
        for (const [key, one] of value) map.set(inner(key), inner(one))
      })
    }
    if (value instanceof Set) {
      return filled(value, seen, new Set(), (set) => {
        for (const one of value) set.add(inner(one))
      })
    }
    if (value instanceof Error) return filled(value, seen, errorLike(value), (copy) => this.#fields(value, copy, inner))
    const prototype: unknown = Object.getPrototypeOf(value)
    // A Date, bytes: they hold no text.
    if (prototype !== Object.prototype && prototype !== null) return value
    return filled(value, seen, {}, (copy) => this.#fields(value, copy, inner))
  }

  #fields(from: object, to: object, inner: (value: unknown) => unknown): void {
    const names = from instanceof Error ? new Set(['message', 'stack', ...Object.keys(from)]) : Object.keys(from)
    for (const name of names) {
      const value = inner(Reflect.get(from, name))
      Object.defineProperty(to, this.hide(name), { value, enumerable: true, writable: true, configurable: true })
    }
    if (from instanceof Error && from.cause !== undefined)
      Object.defineProperty(to, 'cause', {
        value: inner(from.cause),
        enumerable: false,
        writable: true,
        configurable: true,
      })
  }
}

const errorLike = (error: Error): object => Object.create(Object.getPrototypeOf(error) as object) as object

/** Known before it is filled, so that one which holds itself comes to an end. */
function filled<T>(original: object, seen: Map<object, unknown>, copy: T, fill: (copy: T) => void): T {
  seen.set(original, copy)
  fill(copy)
  return copy
}

/** The ways in which a value turns up in text: as it is, its lines by themselves, within JSON, within an address. */
function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/)
  const forms = [value, ...lines, JSON.stringify(value).slice(1, -1)]
  try {
    forms.push(encodeURIComponent(value))
  } catch {
    // Half of a pair of characters: there is no such form.
  }
  return forms.map((form) => form.trim()).filter((form) => form.length >= MIN_SECRET_LENGTH)
}
