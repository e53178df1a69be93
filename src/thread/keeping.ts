/**
 * `ctx.memory` and `ctx.session`: each call is a request to the host, in order with what is sent. A write says of which
 * delivery it is, and the how many-th: where that message is delivered again, the host knows what it has done already.
 */
import type { Memory, Session } from '../model/keeping.ts'
import type { Outbox } from './outbox.ts'

/** The handler that asks. */
export interface Writer {
  readonly seq: number
  /** Number of the next write, from 0. */
  nextWrite(): number
}

export function memoryOver(outbox: Outbox, writer: Writer): Memory {
  const ask = <T>(name: string, payload: object): Promise<T> => outbox.request(`memory.${name}`, payload) as Promise<T>
  const write = <T>(name: string, payload: object): Promise<T> =>
    ask(name, { ...payload, of: { seq: writer.seq, n: writer.nextWrite() } })
  return {
    get: async <T>(key: string) => (await ask<{ value: T } | undefined>('entry', { key }))?.value,
    entry: (key) => ask('entry', { key }),
    set: (key, value, condition) => write('set', { key, value, ...condition }),
    delete: (key, condition) => write('delete', { key, ...condition }),
    list: (prefix = '', page = {}) => ask('list', { prefix, page }),
    transaction: (steps) => write('transaction', { steps }),
  }
}

export function sessionOver(outbox: Outbox, id: string, writer: Writer): Session {
  const ask = <T>(name: string, payload: object): Promise<T> =>
    outbox.request(`session.${name}`, { session: id, ...payload }) as Promise<T>
  const write = <T>(name: string, payload: object): Promise<T> =>
    ask(name, { ...payload, of: { seq: writer.seq, n: writer.nextWrite() } })
  return {
    id,
    append: (value) => write('append', { value }),
    page: (page = {}) => ask('page', { page }),
    length: () => ask('length', {}),
    remove: () => write('remove', {}),
  }
}
