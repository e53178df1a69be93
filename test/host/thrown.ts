/** Everything that may be thrown, as text for a role, and what has to be true of every death record whatever it was. */
import { expect } from 'vitest'
import { DEATH_CAUSES, type DeathRecord } from '../../src/model/death.ts'

/** `THROWN[what]()` makes the value. */
export const THROWN = `
class Secret { #inner = 1; get open() { return this.#inner } }
const cyclic: any = Object.assign(new Error('bad file'), { setErrno() {}, when: new Date(0), big: 1n })
cyclic.self = cyclic
cyclic.cause = cyclic
const THROWN: Record<string, () => unknown> = {
  null: () => null,
  undefined: () => undefined,
  number: () => 42,
  bigint: () => 7n,
  symbol: () => Symbol('why'),
  text: () => 'just text',
  function: () => function thrown() {},
  frozen: () => Object.freeze({ reason: 'frozen' }),
  getter: () => Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('no message') } }),
  toString: () => ({ toString() { throw new Error('no text') }, toJSON() { throw new Error('no data') } }),
  proxy: () => new Proxy(function () {}, { get() { throw new Error('trap') }, getPrototypeOf() { throw null }, ownKeys() { throw null } }),
  revoked: () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy },
  cyclic: () => cyclic,
  private: () => new Secret(),
  unclonable: () => { try { structuredClone(() => {}) } catch (error) { return error } },
  nameless: () => Object.create(null),
  huge: () => new Error('x'.repeat(1_000_000)),
  stackless: () => Object.defineProperty(new Error('no stack'), 'stack', { get() { throw new Error('none') } }),
}
`

/** What the record says of each, at least. */
export const SAID: Readonly<Record<string, RegExp>> = {
  null: /null/,
  undefined: /undefined/,
  number: /42/,
  bigint: /7/,
  symbol: /Symbol\(why\)/,
  text: /just text/,
  function: /thrown/,
  frozen: /frozen|#<Object>/,
  getter: /no message|threw/,
  toString: /./,
  proxy: /trap|function/,
  revoked: /revoked|proxy/i,
  cyclic: /^bad file$/,
  private: /./,
  unclonable: /could not be cloned/,
  nameless: /./,
  huge: /^x{8192}$/,
  stackless: /^no stack$/,
}

const TEXT = expect.stringMatching(/./s)
const NUMBER = expect.any(Number)

/** Whatever ended an instance: every field is there, of its type, and plain data. */
export function expectComplete(record: DeathRecord | null): asserts record is DeathRecord {
  expect(record).toMatchObject({
    id: expect.stringMatching(/^d_/),
    agent: TEXT,
    instance: expect.stringMatching(/^i_/),
    epoch: NUMBER,
    cause: expect.toSatisfy((cause: string) => (DEATH_CAUSES as string[]).includes(cause)),
    class: expect.stringMatching(/^(normal|crash|reclaimed)$/),
    uptimeMs: NUMBER,
    at: NUMBER,
    unflushed: NUMBER,
    mailboxDepth: NUMBER,
    decision: { rule: TEXT, action: TEXT, supervisor: TEXT, attempt: NUMBER },
  })
  for (const flying of record!.inFlight)
    expect(flying).toMatchObject({
      seq: NUMBER,
      name: TEXT,
      id: NUMBER,
      kind: expect.stringMatching(/^(event|ask)$/),
      begunAt: NUMBER,
    })
  if (record!.error !== undefined) {
    expect(record!.error).toMatchObject({ name: TEXT, message: expect.any(String) })
    expect(JSON.stringify(record!.error).length).toBeLessThan(300_000)
  }
  expect(JSON.parse(JSON.stringify(record))).toEqual(structuredClone(record))
}
