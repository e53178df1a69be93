/** The examples of docs/rest.md: each is run against a host, and answers as the page says. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ROOT } from '../../source-graph.ts'
import { restHost } from './rest-host.ts'

const page = readFileSync(`${ROOT}docs/rest.md`, 'utf8')
const examples = [...page.matchAll(/```sh\n(.*?)```\n```text\n(.*?)```/gs)].map(([, command, told]) => ({
  command: command!.trim(),
  // `…` stands for anything.
  told: told!.trim().split(/\n|…/),
}))

/** Each part stands in the text, after the one before. */
function expectInOrder(text: string, parts: readonly string[]): void {
  let from = 0
  for (const part of parts) {
    const at = text.indexOf(part, from)
    expect(at, `'${part}' after ${from} in ${text}`).toBeGreaterThanOrEqual(0)
    from = at + part.length
  }
}

it('answers as docs/rest.md says', async () => {
  expect(examples.length).toBeGreaterThan(10)
  expect(page.split('```sh')).toHaveLength(examples.length + 1)
  const { server, tokens } = await restHost()
  const env = { ...process.env, HOLT: server.url, TOKEN: tokens.admin }
  for (const { command, told } of examples) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env }).catch(
      // A stream that was cut by --max-time.
      (error: { stdout: string }) => error,
    )
    expectInOrder(stdout, told)
  }
})
