/**
 * How the schemas in `shapes.ts` are held to the types of the model: every field of a type needs a schema of exactly
 * its name, and a union of texts needs every one of them, or it does not compile.
 */
import { z } from 'zod'

/** The schema of an object type; refuses unknown keys. */
export const objectOf = <T extends object>(fields: { readonly [K in keyof T]-?: z.ZodType<T[K]> }): z.ZodType<T> =>
  z.strictObject(fields as z.core.$ZodShape) as unknown as z.ZodType<T>

/** The schema of a union of texts. */
export const oneOf = <K extends string>(all: Readonly<Record<K, true>>): z.ZodType<K> =>
  z.enum(Object.keys(all) as [K, ...K[]]) as unknown as z.ZodType<K>

/** The schema of an object type that has all the fields of another, and more. */
export const extended = <T extends object, B extends object>(
  base: z.ZodType<B>,
  fields: { readonly [K in Exclude<keyof T, keyof B>]-?: z.ZodType<T[K]> },
): z.ZodType<T> => (base as unknown as z.ZodObject).extend(fields as z.core.$ZodLooseShape) as unknown as z.ZodType<T>
