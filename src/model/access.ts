/** Who may do what: three levels, each with all of those before it, and the tokens that carry them. */

export const ACCESSES = ['read', 'control', 'admin'] as const
/** What a caller must be allowed to. `admin` includes `control`, `control` includes `read`. */
export type Access = (typeof ACCESSES)[number]

export const allows = (has: Access, needed: Access): boolean => ACCESSES.indexOf(has) >= ACCESSES.indexOf(needed)

/** A token as it is shown. Times are wall clock, ms. */
export interface TokenView {
  readonly id: string
  readonly name: string
  readonly access: Access
  readonly createdAt: number
  /** To the minute. */
  readonly lastUsedAt: number | null
  /** Null: never. */
  readonly expiresAt: number | null
}

/** As its maker gets it. */
export interface CreatedToken extends TokenView {
  /** The token itself, shown this once. */
  readonly token: string
}
