/** `ctx.memory` and `ctx.session`: each call is a request to the host, in order with what is sent. */
import type { Memory, Session } from '../model/keeping.ts'
import type { Outbox } from './outbox.ts'

export function memoryOver(outbox: Outbox): Memory {
  const ask = <T>(name: string, payload: object): Promise<T> => outbox.request(`memory.${name}`, payload) as Promise<T>
  return {
    get: async <T>(key: string) => (await ask<{ value: T } | undefined>('entry', { key }))?.value,
    entry: (key) => ask('entry', { key }),
    set: (key, value, condition) => ask('set', { key, value, ...condition }),
    delete: (key, condition) => ask('delete', { key, ...condition }),
    list: (prefix = '', page = {}) => ask('list', { prefix, page }),
    transaction: (steps) => ask('transaction', { steps }),
  }
}

export function sessionOver(outbox: Outbox, id: string): Session {
  const ask = <T>(name: string, payload: object): Promise<T> =>
    outbox.request(`session.${name}`, { session: id, ...payload }) as Promise<T>
  return {
    id,
    append: (value) => ask('append', { value }),
    page: (page = {}) => ask('page', { page }),
    length: () => ask('length', {}),
    remove: () => ask('remove', {}),
  }
}
