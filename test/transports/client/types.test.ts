/** The types of the client against the table of operations: a row that changes breaks the build until its types follow. */
import { describe, expect, it } from 'vitest'
import type { HostCalls } from '../../../src/transports/client/calls-of-host.ts'
import { COMMANDING } from '../../../src/transports/operations/commanding.ts'
import { INSPECTING } from '../../../src/transports/operations/inspecting.ts'
import { INSTALLING } from '../../../src/transports/operations/installing.ts'
import { LOOKING } from '../../../src/transports/operations/looking.ts'
import { SENDING } from '../../../src/transports/operations/sending.ts'
import { TOKENS } from '../../../src/transports/operations/tokens.ts'

const TABLE = [...LOOKING, ...COMMANDING, ...SENDING, ...INSTALLING, ...INSPECTING, ...TOKENS] as const

type Row = (typeof TABLE)[number]
type Call = Extract<Row, { readonly kind: 'call' }>
type Named<N> = Extract<Call, { readonly name: N }>
/** Over the socket alone, by the CLI. */
type OverSocket = (typeof TOKENS)[number]['name']
type InputOf<R> = R extends { run(host: never, input: infer I, caller: never): unknown } ? I : never
type OutputOf<R> = R extends { run(...args: never[]): infer O } ? Awaited<O> : never

/** Names of calls for which `Check` is not true. */
type Faults<Check extends Record<string, boolean>> = {
  [K in keyof Check]: Check[K] extends true ? never : K
}[keyof Check]
type Fits<A, B> = [A] extends [B] ? true : false
type Known = keyof HostCalls & Call['name']

type Inputs = { [K in Known]: Fits<HostCalls[K]['input'], InputOf<Named<K>>> }
/** Of an object without fields the keys are any text, to the compiler. */
type KeysOf<T> = string extends keyof T ? never : keyof T
type Fields = { [K in Known]: Fits<KeysOf<InputOf<Named<K>>>, keyof HostCalls[K]['input']> }
type Outputs = { [K in Known]: Fits<OutputOf<Named<K>>, HostCalls[K]['output']> }

const none = <T extends never>(): T[] => []

describe('the types of the client', () => {
  it('have every call of the table, and no other', () => {
    expect(none<Exclude<Call['name'], keyof HostCalls | OverSocket>>()).toEqual([])
    expect(none<Exclude<keyof HostCalls, Call['name']>>()).toEqual([])
    expect(new Set(TABLE.map(({ name }) => name)).size).toBe(TABLE.length)
  })

  it('give each call what its row takes, field by field', () => {
    expect(none<Faults<Inputs>>()).toEqual([])
    expect(none<Faults<Fields>>()).toEqual([])
  })

  it('promise of each call what its row answers', () => {
    expect(none<Faults<Outputs>>()).toEqual([])
  })
})
