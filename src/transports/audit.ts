/** The audit log: every write that somebody asked for, who, what, of which agent, and what came of it; never a payload. */
import type { Host } from '../host/host.ts'
import { describeError } from '../model/error.ts'
import type { Caller, CallOperation } from './operation.ts'

/** Messages of programs to agents: over the socket there may be thousands a second. */
const MESSAGES: readonly string[] = ['emit', 'ask']
/** What tells which one was meant. */
const TARGETS = ['id', 'name', 'letter', 'source'] as const

export interface Asked extends Caller {
  readonly over: 'socket' | 'rest'
}

/**
 * Runs an operation; where it writes, notes what came of it. Messages over the socket at level `debug`.
 * @throws as the operation
 */
export function audited<I, O>(host: Host, operation: CallOperation<I, O>, input: I, asked: Asked): O | Promise<O> {
  return operation.access === 'read' ? operation.run(host, input, asked) : noted(host, operation, input, asked)
}

async function noted<I, O>(host: Host, operation: CallOperation<I, O>, input: I, asked: Asked): Promise<O> {
  const { who, tokenId, over } = asked
  const { name } = operation
  const level = over === 'socket' && MESSAGES.includes(name) ? 'debug' : 'info'
  const note = (result: string): void => {
    const target = targetOf(input)
    const data = {
      kind: 'audit',
      over,
      who,
      ...(tokenId === undefined ? {} : { tokenId }),
      operation: name,
      target,
      result,
    }
    host.log[level](data, `${who}: ${name}${target === null ? '' : ` of '${target}'`}: ${result}`)
  }
  try {
    const answer = await operation.run(host, input, asked)
    note('done')
    return answer
  } catch (error) {
    note(describeError(error).code ?? 'Internal')
    throw error
  }
}

function targetOf(input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return null
  const key = TARGETS.find((one) => Object.hasOwn(input, one))
  return key === undefined ? null : String(Reflect.get(input, key)).slice(0, 200)
}
