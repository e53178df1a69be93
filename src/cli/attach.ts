/**
 * `holt attach ID`: how the agent stands, then what happens to it and what it prints, in one, until the host ends or
 * Ctrl-C ends this process.
 */
import type { Fact } from '../model/fact.ts'
import type { Output } from '../model/output.ts'
import { detailLines } from './format/detail.ts'
import { toldLine } from './format/fact.ts'
import type { Invocation, Run } from './invocation.ts'
import { merged } from './merged.ts'

export const attach: Run = async (invocation) => {
  const { client, io, print } = invocation
  const [id = ''] = invocation.args
  const connection = await client()
  const streams = [connection.watch(id), connection.logs(id, { follow: true, tail: 0 })]
  // Followed before it is looked at, so that nothing falls between the two.
  await Promise.all(streams.map(({ opened }) => opened))
  const detail = await connection.get(id)
  await print(detail, (look) => [...detailLines(detail, io.now(), look), ''])
  await printAll(merged(streams), invocation)
  return undefined
}

async function printAll(told: AsyncIterable<unknown>, { print }: Invocation): Promise<void> {
  for await (const value of told as AsyncIterable<Fact | Output>) {
    const text = 'text' in value ? value.text : value.message
    await print(value, (look) => [toldLine({ ...value, text }, look)])
  }
}
