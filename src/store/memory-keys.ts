/** Which keys may be in a memory, and which range of keys begins with a prefix. Pure. */
import { refusal } from './faults.ts'

const MAX_KEY = 512
const LAST_CODE_POINT = 0x10ffff
const SURROGATES = { first: 0xd800, last: 0xdfff }
/** What the database would change or cut: half of a surrogate pair, and NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is looked for
const NOT_KEPT = /\p{Surrogate}|\u0000/u

/** @throws HoltError `InvalidInput` unless it is 1 to 512 characters of well-formed text without NUL */
export function checkKey(agent: string, key: unknown): void {
  if (typeof key === 'string' && key.length > 0 && key.length <= MAX_KEY && !NOT_KEPT.test(key)) return
  const found = typeof key === 'string' ? `${key.length} characters, '${key.slice(0, 40)}'` : typeof key
  const text = `Expected a key of 1 to ${MAX_KEY} characters of well-formed text without NUL, found ${found}`
  throw refusal('InvalidInput', text, { agent })
}

/** The first key after all that begin with `prefix`; null where there is none. Keys are in order of code points. */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return null
  const next = last + 1 === SURROGATES.first ? SURROGATES.last + 1 : last + 1
  return String.fromCodePoint(...points, next)
}
