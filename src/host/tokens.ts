/**
 * Who may call over the network: tokens are made, listed, revoked, and told by their secret. The secret is shown once and
 * kept nowhere; the store has its hash. Held in memory as well, since every request asks.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { ACCESSES, type Access, type CreatedToken, type TokenView } from '../model/access.ts'
import { HoltError } from '../model/error.ts'
import type { Clock } from '../platform/clock.ts'
import { newId, newSecret } from '../platform/id.ts'
import type { Store } from '../store/store.ts'
import type { TokenRow } from '../store/tokens.ts'

export interface NewToken {
  /** For people; several may have the same. */
  readonly name: string
  /** @default 'read' */
  readonly access?: Access
  /** @default it never expires */
  readonly expiresInMs?: number
}

/** How often the time of the last use is written down. */
const USED_EVERY_MS = 60_000
const FORM = /^holt_([0-9a-f]{16})_([0-9a-f]{64})$/
/** What an unknown id is compared with, so that it takes as long as a known one. */
const NOBODY = Buffer.alloc(32)

export class Tokens {
  readonly #store: Store
  readonly #clock: Clock
  #rows: Map<string, TokenRow> | null = null

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The oldest first. */
  list(): TokenView[] {
    return [...this.#known().values()].map((row) => viewOf(row))
  }

  /** @returns the token, this once */
  async create({ name, access = 'read', expiresInMs }: NewToken): Promise<CreatedToken> {
    const createdAt = this.#clock.wall()
    const id = newId('t')
    const secret = newSecret()
    const row: TokenRow = {
      id,
      name,
      access,
      hash: hashOf(secret).toString('hex'),
      createdAt,
      lastUsedAt: null,
      expiresAt: expiresInMs === undefined ? null : createdAt + Math.ceil(expiresInMs),
    }
    const known = this.#known()
    await this.#store.write((tx) => tx.tokens.add(row))
    known.set(id, row)
    return { ...viewOf(row), token: `holt_${id.slice(2)}_${secret}` }
  }

  /**
   * From now on it opens nothing; also where that cannot be written, until the host ends.
   * @throws HoltError `NoSuchToken`; as the store does
   */
  async revoke(id: string): Promise<TokenView> {
    const row = this.#known().get(id)
    if (row === undefined) throw new HoltError('NoSuchToken', `there is no token '${id}'`, { id })
    this.#known().delete(id)
    await this.#store.write((tx) => tx.tokens.remove(id))
    return viewOf(row)
  }

  /** Whose this token is. Null: nobody's, or it has expired. Takes as long for any token of the right form. */
  check(token: string): TokenView | null {
    const [, digits, secret] = FORM.exec(token) ?? []
    if (digits === undefined || secret === undefined) return null
    const row = this.#known().get(`t_${digits}`)
    const same = timingSafeEqual(hashOf(secret), row === undefined ? NOBODY : madeOf(row).hash)
    const now = this.#clock.wall()
    if (row === undefined || !same || (row.expiresAt !== null && row.expiresAt <= now)) return null
    return madeOf(this.#used(row, now)).view
  }

  /** Whether one that was shown before holds still. */
  holds(id: string): boolean {
    const row = this.#known().get(id)
    return row !== undefined && (row.expiresAt === null || row.expiresAt > this.#clock.wall())
  }

  #used(row: TokenRow, now: number): TokenRow {
    if (row.lastUsedAt !== null && now - row.lastUsedAt < USED_EVERY_MS) return row
    const used = { ...row, lastUsedAt: now }
    this.#known().set(row.id, used)
    // Nobody waits for it, and the store tells why it cannot write.
    this.#store.write((tx) => tx.tokens.used(row.id, now)).catch(() => {})
    return used
  }

  #known(): Map<string, TokenRow> {
    this.#rows ??= new Map(this.#store.tokens.list().map((row) => [row.id, row]))
    return this.#rows
  }
}

const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** What every request wants of a row, made once; a row is replaced and never changed. */
const made = new WeakMap<TokenRow, { readonly view: TokenView; readonly hash: Buffer }>()

function madeOf(row: TokenRow): { readonly view: TokenView; readonly hash: Buffer } {
  const known = made.get(row)
  if (known !== undefined) return known
  const fresh = { view: viewOf(row), hash: Buffer.from(row.hash, 'hex') }
  made.set(row, fresh)
  return fresh
}

const viewOf = ({ hash: _, access, ...row }: TokenRow): TokenView => ({
  ...row,
  // What a newer version wrote and this one does not know opens the least.
  access: ACCESSES.find((one) => one === access) ?? 'read',
})
