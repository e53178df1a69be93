/** Schemas of how things end: errors, deaths of instances, ends of supervisors. Used by `shapes.ts`. */
import { z } from 'zod'
import {
  DEATH_CAUSES,
  type DeathClass,
  type DeathRecord,
  type DeathStep,
  type Decision,
  type InFlight,
  type SupervisorEnd,
} from '../model/death.ts'
import type { ErrorShape } from '../model/error.ts'
import type { MessageKind } from '../model/message.ts'
import { objectOf, oneOf } from './shape.ts'

const text = z.string()
const number = z.number()
const whole = z.int()
export const messageKind = oneOf<MessageKind>({ event: true, ask: true })

export const errorShape: z.ZodType<ErrorShape> = objectOf<ErrorShape>({
  name: text,
  message: text,
  code: z.exactOptional(text),
  stack: z.exactOptional(text),
  data: z.exactOptional(z.record(text, z.unknown())),
  cause: z.exactOptional(z.lazy(() => errorShape)),
})

export const inFlight = objectOf<InFlight>({
  seq: whole,
  name: text,
  id: whole,
  kind: messageKind,
  begunAt: number,
})

const decision = objectOf<Decision>({
  rule: oneOf<Decision['rule']>({
    restart_type: true,
    backoff: true,
    restart_intensity: true,
    restart_limit: true,
    final_boot_failure: true,
    intent: true,
    command: true,
    host_shutdown: true,
    strategy: true,
    supervisor: true,
    auto_shutdown: true,
    recovery: true,
  }),
  action: oneOf<Decision['action']>({ restart: true, none: true, give_up: true, shutdown: true }),
  delayMs: z.exactOptional(number),
  supervisor: text,
  attempt: whole,
  by: z.exactOptional(text),
})

export const supervisorEnd = objectOf<SupervisorEnd>({
  cause: oneOf<SupervisorEnd['cause']>({ restart_intensity: true, shutdown: true }),
  at: number,
  restarts: z.array(objectOf<SupervisorEnd['restarts'][number]>({ child: text, deathId: text })),
  withinMs: number,
  child: z.exactOptional(text),
  decision: decision.nullable(),
})

const deathStep = oneOf<DeathStep>({
  watermark: true,
  state: true,
  manifest: true,
  env: true,
  identity: true,
  gate: true,
  compile: true,
  thread: true,
  credential: true,
  roles: true,
  needs: true,
  capabilities: true,
})

export const deathRecord = objectOf<DeathRecord>({
  id: text,
  agent: text,
  instance: text,
  epoch: whole,
  cause: z.enum(DEATH_CAUSES),
  class: oneOf<DeathClass>({ normal: true, crash: true, reclaimed: true }),
  step: z.exactOptional(deathStep),
  error: z.exactOptional(errorShape),
  exitCode: z.exactOptional(whole),
  signal: z.exactOptional(text),
  uptimeMs: number,
  at: number,
  inFlight: z.array(inFlight),
  unflushed: whole,
  mailboxDepth: whole,
  heapUsedMb: number.nullable(),
  decision,
})
