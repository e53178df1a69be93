/** A host served over HTTP, and over a socket for a group: what is refused at the door, and how both end. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../../../src/transports/client/client.ts'
import { checkRest, isLoopback, type RestOptions } from '../../../src/transports/rest/options.ts'
import { serve } from '../../../src/transports/serve.ts'
import { hostFleet } from '../../fleet-on-disk.ts'
import { HAND } from '../../host/hand.ts'
import { ownFolder } from '../uds/on-socket.ts'

const oneHand = () => hostFleet({ agents: { hand: { role: HAND } } })

describe('REST', () => {
  it('is on 127.0.0.1 unless another address is given', () => {
    expect(checkRest({})).toMatchObject({ address: '127.0.0.1', port: 8000, hosts: [], origins: [] })
    expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].map(isLoopback)).toEqual([true, true, true, true])
    expect(['0.0.0.0', '::', '10.0.0.1', 'holt.example.org'].map(isLoopback)).toEqual([false, false, false, false])
  })

  it.each<[RestOptions, string]>([
    [{ port: 65_536 }, 'rest.port'],
    [{ port: 1.5 }, 'rest.port'],
    [{ address: 'a b' }, 'rest.address'],
    [{ allowHosts: ['http://x'] }, 'rest.allowHosts'],
    [{ corsOrigins: ['*'] }, 'rest.corsOrigins'],
    [{ corsOrigins: ['https://x/path'] }, 'rest.corsOrigins'],
    [{ requestsPerSecond: 0 }, 'rest.requestsPerSecond'],
  ])('refuses %j', (options, text) => expect(() => checkRest(options)).toThrow(text))

  it('says that a port is taken, and what to do; the socket goes again', async () => {
    const [one, two] = [await oneHand(), await oneHand()]
    const served = await serve(one, { rest: { port: 0 } })
    onTestFinished(() => served.close())
    const path = join(ownFolder(), 's')
    const refused = serve(two, { socket: path, rest: { port: served.rest!.port } })
    await expect(refused).rejects.toMatchObject({
      code: 'InvalidOption',
      message: expect.stringMatching(/is taken.*--port N.*--no-rest/),
      details: { reason: 'EADDRINUSE' },
    })
    await (await serve(two, { socket: path })).close()
  })

  it('ends with the host, which still answers who ended it', async () => {
    const host = await oneHand()
    const served = await serve(host, { rest: { port: 0 } })
    const { token } = await host.tokens.create({ name: 'x', access: 'admin' })
    const answer = await fetch(`${served.rest!.url}/shutdown`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ stuck: [] })
    await served.close()
    await expect(fetch(`${served.rest!.url}/healthz`)).rejects.toThrow()
  })
})

describe('the socket for a group', () => {
  it('lets its members look and change nothing', async () => {
    const host = await oneHand()
    const served = await serve(host, { socketGroup: String(process.getgid!()) })
    const path = served.groupSocket!
    expect(statSync(path).mode & 0o777).toBe(0o660)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o750)
    const client = await connect({ path, who: 'member' })
    onTestFinished(async () => {
      client.close()
      await served.close()
    })
    expect(await client.call('get', ['hand'])).toMatchObject({ id: 'hand' })
    for (const name of ['pause', 'tokens', 'emit', 'shutdown'])
      await expect(client.call(name, ['hand'])).rejects.toMatchObject({ code: 'Forbidden' })
    expect(host.agent('hand').snapshot().status).toBe('Running')
  })

  it('takes a group that there is', async () => {
    const host = await oneHand()
    await expect(serve(host, { socketGroup: 'no-such-group' })).rejects.toMatchObject({
      code: 'InvalidOption',
      message: expect.stringContaining("'no-such-group'"),
    })
  })
})
