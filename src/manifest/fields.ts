/**
 * The parts the schemas are made of. Each part's error text is what was expected, in words that can follow "expected";
 * check.ts adds what was found, where, and what to do.
 */
import { z } from 'zod'
import { MAX_TIMER_MS } from '../platform/clock.ts'

/** The one rule for ids of agents, supervisors and capabilities. */
export const ID = /^[a-z][a-z0-9-]{0,62}$/
const METHOD = /^[A-Za-z_$][\w$]{0,127}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

export const KEYS_PREFIX = 'one of: '

/** A map with exactly these fields. */
export const map = <S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `${KEYS_PREFIX}${Object.keys(shape).join(', ')}` : 'a map'),
  })

export const list = <T extends z.ZodType>(item: T, of: string): z.ZodArray<T> =>
  z.array(item, { error: `a list of ${of}` })

const number = (error: string, fits: (n: number) => boolean): z.ZodType<number> =>
  z.number({ error }).refine(fits, { error })

export const whole = (min: number, max: number): z.ZodType<number> =>
  number(`a whole number from ${min} to ${max}`, (n) => Number.isInteger(n) && n >= min && n <= max)

export const fraction = (min: number, max: number): z.ZodType<number> =>
  number(`a number from ${min} to ${max}`, (n) => n >= min && n <= max)

export const powerOfTwo = (min: number, max: number): z.ZodType<number> =>
  number(`a power of two from ${min} to ${max}`, (n) => n >= min && n <= max && Number.isInteger(Math.log2(n)))

export const milliseconds = (min = 1, max = MAX_TIMER_MS): z.ZodType<number> =>
  number(`whole milliseconds from ${min} to ${max}`, (n) => Number.isInteger(n) && n >= min && n <= max)

export const truth = (): z.ZodBoolean => z.boolean({ error: 'true or false' })

const string = (error: string, fits: (text: string) => boolean): z.ZodType<string> =>
  z.string({ error }).refine(fits, { error })

export const id = (): z.ZodType<string> =>
  string('an id: a lower-case letter, then at most 62 of a-z, 0-9 and "-"', (text) => ID.test(text))

export const method = (): z.ZodType<string> =>
  string('the name of a method', (text) => METHOD.test(text) && !(text in Object.prototype))

export const text = (maxBytes: number): z.ZodType<string> =>
  string(
    `a text of 1 to ${maxBytes} bytes on one line`,
    (value) => value.trim() !== '' && !CONTROL.test(value) && Buffer.byteLength(value) <= maxBytes,
  )

export const path = (): z.ZodType<string> => string('a relative path', (value) => value !== '' && value.length <= 1024)

export const oneOf = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values, { error: `${KEYS_PREFIX}${values.join(', ')}` })

/** Refuses the second of two equal things. */
export const unique =
  <T>(key: (item: T) => string, expected: string) =>
  (items: readonly T[], ctx: z.RefinementCtx): void => {
    const seen = new Set<string>()
    for (const [index, item] of items.entries()) {
      const k = key(item)
      if (seen.has(k)) ctx.addIssue({ code: 'custom', path: [index], message: expected })
      seen.add(k)
    }
  }

/**
 * A value of which a look says what it is meant to be: the faults are then those of that one schema, not those of
 * every alternative.
 */
export function choose<T>(pick: (value: unknown) => z.ZodType<T>): z.ZodType<T> {
  return z.unknown().transform((value, ctx): T => {
    const result = pick(value).safeParse(value)
    if (result.success) return result.data
    for (const issue of result.error.issues) ctx.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue)
    return z.NEVER
  })
}
