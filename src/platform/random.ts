/** Chance, handed in everywhere: nothing outside this room calls Math.random. Not for secrets; those are in `id.ts`. */

/** A number from 0 up to, but not, 1. */
export type Random = () => number

export const systemRandom: Random = Math.random
