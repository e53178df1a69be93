/**
 * What a transport is handed in place of a host: operations by name, ready to be run. Made here from the table and a
 * host; a test hands in its own.
 */
import type { Observable } from 'rxjs'
import type { Host } from '../host/host.ts'
import { type Access, allows } from '../model/access.ts'
import { HoltError } from '../model/error.ts'
import { type Asked, audited } from './audit.ts'
import { bindArgs, parseInput } from './bind.ts'
import { find } from './dispatch.ts'
import type { Caller, Operation } from './operation.ts'

/** What a caller gave: arguments by position with options beside them, or the input by name. */
export type Given =
  | { readonly args: readonly unknown[]; readonly opts: Readonly<Record<string, unknown>> }
  | { readonly input: Readonly<Record<string, unknown>> }

/** An operation whose input has been checked. */
export type Prepared =
  | { readonly kind: 'call'; run(): unknown }
  | { readonly kind: 'stream'; open(): Observable<unknown> }

export interface Service {
  /** @throws HoltError `NoSuchOperation`, `InvalidInput` */
  prepare(name: string, given: Given, caller: Caller): Prepared
}

/** Through which door callers come, and what may be done there at most. */
export interface Door {
  readonly over: Asked['over']
  readonly most: Access
}

/** What is refused to whoever may do too little is not even read. */
export function serviceOf(host: Host, { over, most }: Door): Service {
  return {
    prepare(name, given, caller) {
      const operation = find(name)
      if (!allows(most, operation.access)) throw tooLittle(operation, most)
      const input = parseInput(operation, 'input' in given ? given.input : bindArgs(operation, given.args, given.opts))
      return operation.kind === 'call'
        ? { kind: 'call', run: () => audited(host, operation, input, { ...caller, over }) }
        : { kind: 'stream', open: () => operation.open(host, input, caller) }
    },
  }
}

const tooLittle = ({ name, access }: Operation, most: Access): HoltError =>
  new HoltError('Forbidden', `'${name}' takes ${access} access, and this caller has ${most}`, {
    needs: access,
    has: most,
  })
