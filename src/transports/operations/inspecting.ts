/** The operation that looks into the thread of an agent. */
import { z } from 'zod'
import { type Inspected, MAX_CPU_MS } from '../../host/inspect.ts'

import { call, id, path } from './fields.ts'

const inspected: z.ZodType<Inspected> = z.strictObject({
  agent: z.string(),
  instance: z.string(),
  kind: z.enum(['cpu', 'heap']),
  path: z.string(),
  bytes: z.int(),
})

export const INSPECTING = [
  call({
    name: 'inspect',
    summary: 'writes a CPU profile or a heap snapshot of an agent to a file of the machine of the host',
    access: 'admin',
    input: z
      .strictObject({
        id,
        cpu: z.exactOptional(z.int().min(1).max(MAX_CPU_MS).describe('how long the profile is, ms')),
        heap: z.exactOptional(z.boolean().describe('a heap snapshot in place of a profile')),
        out: z.exactOptional(path),
      })
      .refine(({ cpu, heap }) => cpu === undefined || heap !== true, { error: 'expected cpu or heap, found both' }),
    output: inspected,
    positional: ['id'],
    rest: { verb: 'POST', path: '/agents/{id}/inspect' },
    cli: 'ID [--cpu MS] [--heap] [--out FILE]',
    run: (host, { id: agent, ...options }) => host.inspections.inspect(agent, options),
  }),
] as const
