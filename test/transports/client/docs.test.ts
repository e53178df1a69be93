/** The examples of docs/client.md: each is run in a process of its own against a host, and prints what the page says. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../../src/transports/serve.ts'
import { role } from '../../fleet-on-disk.ts'
import { ROOT } from '../../source-graph.ts'
import { restHost } from '../rest/rest-host.ts'
import { ownFolder } from '../uds/on-socket.ts'

const FLEET = {
  agents: { hand: { role: role("commands: { echo: { summary: 'the same', handle: (value) => value } }") } },
}
const page = readFileSync(`${ROOT}docs/client.md`, 'utf8')
const examples = [...page.matchAll(/```js\n(.*?)```\n```text\n(.*?)```/gs)]

it('prints what docs/client.md says', async () => {
  expect(page.split('```js')).toHaveLength(examples.length + 1)
  const { host, server, tokens } = await restHost({ fleet: FLEET })
  const folder = ownFolder()
  const socket = join(folder, 's')
  const served = await serve(host, { socket })
  onTestFinished(() => served.close())
  const env = { ...process.env, SOCKET: socket, HOLT: server.url, TOKEN: tokens.admin }
  for (const [n, [, code, told]] of examples.entries()) {
    const file = join(folder, `${n}.mjs`)
    // From source: what is built may be older.
    writeFileSync(file, code!.replace("'holt/client'", `'${ROOT}src/transports/client/connect.ts'`))
    const { stdout } = await promisify(execFile)(
      'node',
      ['--import', `${ROOT}node_modules/tsx/dist/loader.mjs`, file],
      { env, cwd: ROOT },
    )
    expect(stdout).toBe(told)
  }
}, 60_000)
