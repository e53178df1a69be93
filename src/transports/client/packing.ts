/** Packs and unpacks values for the client; superjson is loaded when a value needs it, and not before. */
import { isExact, isPacked, type Packed } from '../packed.ts'

/** As `pack` of `superjson.ts`, which is loaded where it is needed. @throws HoltError `NotCloneable` */
export const packed = (value: unknown): Packed | Promise<Packed> =>
  isExact(value) ? { json: value } : import('../superjson.ts').then(({ pack }) => pack(value))

/** @throws HoltError `BadRequest` for what is no superjson */
export const unpacked = (value: unknown): unknown =>
  isPacked(value) && value.meta === undefined
    ? value.json
    : import('../superjson.ts').then(({ unpack }) => unpack(value))
