/** `holt inspect ID`: a CPU profile or a heap snapshot of an agent, in a file of the machine of the host. */
import { resolve } from 'node:path'
import { clean } from './format/text.ts'
import type { Run } from './invocation.ts'

export const inspect: Run = async ({ args: [id = ''], options, client, io, print }) => {
  const { cpu, heap } = options
  const out = options.out === undefined ? undefined : resolve(io.cwd, options.out)
  const made = await (await client()).inspect(id, { cpu, heap, out })
  const what = made.kind === 'cpu' ? 'CPU profile' : 'heap snapshot'
  await print(made, () => [`${clean(made.agent)}: ${what}, ${made.bytes} bytes: ${clean(made.path)}`])
  return undefined
}
