/**
 * `holt attach ID`: how the agent stands, then what happens to it and what it prints, in one, until the host ends or
 * Ctrl-C ends this process.
 */
import type { Fact } from '../model/fact.ts'
import type { Output } from '../model/output.ts'
import type { AgentDetail } from '../model/view.ts'
import { detailLines } from './format/detail.ts'
import { toldLine } from './format/fact.ts'
import type { Invocation, Run } from './invocation.ts'
import { merged } from './merged.ts'

export const attach: Run = async (invocation) => {
  const { args, client, io, print } = invocation
  const connection = await client()
  const streams = [connection.stream('watch', args), connection.stream('logs', args, { follow: true, tail: 0 })]
  // Followed before it is looked at, so that nothing falls between the two.
  await Promise.all(streams.map(({ opened }) => opened))
  const detail = (await connection.call('get', args)) as AgentDetail
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
