/**
 * The types of the client against the schemas of the table of operations, both ways: a row that changes breaks the build
 * until its types follow. What fails here fails in tsc, and names the rows.
 */
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { HostCalls, HostStreams } from '../../../src/transports/client/calls-of-host.ts'
import type { AgentClient, HostClient } from '../../../src/transports/client/connect.ts'
import type { Stream } from '../../../src/transports/client/stream.ts'
import { COMMANDING } from '../../../src/transports/operations/commanding.ts'
import { INSPECTING } from '../../../src/transports/operations/inspecting.ts'
import { INSTALLING } from '../../../src/transports/operations/installing.ts'
import { LOOKING } from '../../../src/transports/operations/looking.ts'
import { SENDING } from '../../../src/transports/operations/sending.ts'
import { TOKENS } from '../../../src/transports/operations/tokens.ts'
import { OPERATIONS } from '../../../src/transports/operations.ts'

const TABLE = [...LOOKING, ...COMMANDING, ...SENDING, ...INSTALLING, ...INSPECTING, ...TOKENS] as const

type Row = (typeof TABLE)[number]
type Name = Row['name']
type Named<N> = Extract<Row, { readonly name: N }>
type NameOf<K> = Extract<Row, { readonly kind: K }>['name']
type InputOf<N> = z.input<Named<N>['input']>
type OutputOf<N> = z.output<Named<N>['output']>

type Rows = HostCalls & HostStreams

/** With each field, whether it may be left out or not: a field that one side alone has is seen by this. */
type Whole<T> = { [K in keyof T]-?: T[K] }
type Fits<A, B> = [A] extends [B] ? true : false
type Same<A, B> = [Fits<A, B>, Fits<B, A>, Fits<Whole<A>, Whole<B>>, Fits<Whole<B>, Whole<A>>] extends true[]
  ? [A, B] extends [B, A]
    ? true
    : false
  : false
/** Names for which `Check` is not true. */
type Faults<Check extends Record<string, boolean>> = {
  [K in keyof Check]: Check[K] extends true ? never : K
}[keyof Check]

type Inputs = { [K in Name]: Same<Rows[K]['input'], InputOf<K>> }
type Outputs = { [K in Name]: Same<Rows[K]['output'], OutputOf<K>> }

const none = <T extends never>(): T[] => []

describe('the types of the client', () => {
  it('have every row of the table, and no other', () => {
    expect(none<Exclude<NameOf<'call'>, keyof HostCalls>>()).toEqual([])
    expect(none<Exclude<keyof HostCalls, NameOf<'call'>>>()).toEqual([])
    expect(none<Exclude<NameOf<'stream'>, keyof HostStreams>>()).toEqual([])
    expect(none<Exclude<keyof HostStreams, NameOf<'stream'>>>()).toEqual([])
    expect(TABLE.map(({ name }) => name)).toEqual(OPERATIONS.map(({ name }) => name))
    expect(new Set(TABLE.map(({ name }) => name)).size).toBe(TABLE.length)
  })

  it('take what each row takes, both ways', () => {
    expect(none<Faults<Inputs>>()).toEqual([])
  })

  it('promise what each row answers, both ways', () => {
    expect(none<Faults<Outputs>>()).toEqual([])
  })

  it('tell a type that has a field too many, too few, or of another kind', () => {
    const no = (..._: false[]): void => {}
    const yes = (..._: true[]): void => {}
    type A = { readonly id: string; readonly now?: boolean }
    no({} as Same<A, { id: string }>, {} as Same<{ id: string }, A>)
    no({} as Same<A, { id: string; now?: boolean; more?: number }>, {} as Same<A, { id: string; now: boolean }>)
    no({} as Same<A, { id: string; now?: string }>, {} as Same<unknown, A>, {} as Same<A, A | { dry: true }>)
    no({} as Same<Readonly<Record<never, never>>, A>, {} as Same<{ dry?: true }, Record<string, never>>)
    yes({} as Same<A, { id: string; now?: boolean }>, {} as Same<unknown, unknown>)
    yes({} as Same<Readonly<Record<never, never>>, Record<string, never>>)
  })

  it('let each method have its words and options, and nothing else', () => {
    // Never called: it is enough that it compiles, and that what is wrong in it does not.
    const methods = (host: HostClient, agent: AgentClient): void => {
      const answers: Promise<unknown>[] = []
      answers.push(host.status(), host.deaths(), host.deaths('a'), host.deadLetters(undefined, { limit: 1 }))
      answers.push(host.pause('a', { now: true, reason: undefined, timeoutMs: 5, signal: AbortSignal.abort() }))
      answers.push(host.emit('a', 'boot', { n: 1 }, { ttlMs: 5 }), host.replay(7, { dryRun: true }))
      answers.push(agent.pause({ now: true }), agent.get(), agent.ask('find', 'x', { timeoutMs: 5 }), agent.deaths())
      const lines: Stream<{ readonly text: string }> = agent.logs({ tail: 5 })
      lines.close()
      // @ts-expect-error: no agent is named
      answers.push(host.pause())
      // @ts-expect-error: there is no such option
      answers.push(host.pause('a', { no: true }))
      // @ts-expect-error: a resume waits for nothing
      answers.push(agent.resume({ now: true }))
      // @ts-expect-error: a dead letter has a number
      answers.push(host.replay('7'))
      // @ts-expect-error: there is no such operation
      answers.push(host.call('paus', { id: 'a' }))
      // @ts-expect-error: a token is of no agent
      answers.push(agent.tokenRevoke())
    }
    expect(methods).toBeTypeOf('function')
  })
})
