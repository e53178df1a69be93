/** Times and durations as people read them. Times of day are UTC, like those of the host's log. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** The two greatest units: `3d 4h`, `2m 5s`, `12s`; below a second `340ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`
  const first = UNITS.findIndex(([, size]) => ms >= size)
  const [name, size] = UNITS[first]!
  const whole = `${Math.floor(ms / size)}${name}`
  const next = UNITS[first + 1]
  if (next === undefined) return whole
  const rest = Math.floor((ms % size) / next[1])
  return rest === 0 ? whole : `${whole} ${rest}${next[0]}`
}

/** `12:03:04.567` */
export const timeOfDay = (at: number): string => iso(at).slice(11, 23)

/** `07-30 12:03:04` */
export const dayAndTime = (at: number): string => iso(at).slice(5, 19).replace('T', ' ')

/** `2026-07-30 12:03:04 UTC` */
export const fullTime = (at: number): string => `${iso(at).slice(0, 19).replace('T', ' ')} UTC`

function iso(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '????-??-??T??:??:??.???' : date.toISOString()
}
