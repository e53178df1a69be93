/** A loan as tests use it: both ends of the port in one thread, the far one in the hands of an attacker or an agent. */
import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { CapabilityContext, Methods } from '../../src/capabilities/contract.ts'
import { type Loan, lend } from '../../src/capabilities/expose.ts'
import { createFacade } from '../../src/capabilities/facade.ts'
import type { Refusal } from '../../src/capabilities/guard.ts'

export interface TestLoan {
  readonly loan: Loan
  readonly near: MessagePort
  readonly far: MessagePort
  readonly refusals: Refusal[]
  readonly instance: { current: boolean }
}

export function lendMethods(methods: Methods, allow: readonly string[], id = 'text'): TestLoan {
  const { port1: near, port2: far } = new MessageChannel()
  const refusals: Refusal[] = []
  const instance = { current: true }
  const loan = lend(near, {
    agent: 'librarian',
    facades: new Map([[id, createFacade(methods, allow)]]),
    isCurrent: () => instance.current,
    onRefused: (refusal) => refusals.push(refusal),
  })
  return { loan, near, far, refusals, instance }
}

export interface RawAnswer {
  readonly id: string
  readonly type: string
  readonly name?: string
  readonly value: unknown
}

/** Posts a message made by hand and waits for what comes back. */
export async function post(far: MessagePort, message: Readonly<Record<string, unknown>>): Promise<RawAnswer> {
  const answered = once(far, 'message')
  far.postMessage(message)
  return (await answered)[0]
}

export const raw = (value: unknown): object => ({ type: 'RAW', value })

export const silent: CapabilityContext['log'] = { info: () => {}, warn: () => {}, error: () => {} }
