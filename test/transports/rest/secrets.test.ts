/** What a handler throws goes to whoever may ask: without the secrets of the agent's `.env`. */
import { expect, it } from 'vitest'
import { AT_ONCE, role } from '../../fleet-on-disk.ts'
import { restHost } from './rest-host.ts'

const SECRET = 'sk-live-0123456789'

const LEAKY = role(`commands: {
  fail: { handle: () => { throw Object.assign(new CommandError('no answer with ' + process.env.KEY), { key: process.env.KEY }) } },
  own: { handle: () => process.env.KEY },
}`).replace('defineRole }', 'CommandError, defineRole }')

it('an error of a handler is told without them, and a reply is what the agent says', async () => {
  const { post, host } = await restHost({
    fleet: { agents: { leaky: { role: LEAKY, manifest: AT_ONCE, files: { '.env': `KEY=${SECRET}\n` } } } },
  })
  const failed = await post('/agents/leaky/ask', { command: 'fail' })
  expect(failed.status).toBeGreaterThanOrEqual(400)
  expect(failed.text).toContain('no answer with [redacted]')
  expect(failed.text).not.toContain(SECRET)
  // The program that hosts it has the error as it was thrown.
  await expect(host.agent('leaky').ask('fail')).rejects.toMatchObject({ message: `no answer with ${SECRET}` })
  expect((await post('/agents/leaky/ask', { command: 'own' })).json).toBe(SECRET)
})
