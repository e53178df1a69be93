/** Answers of one turn go out together: nobody gets another's, in another order, twice, or none. */
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { restHost } from './rest-host.ts'

const asks = (path: string, token: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`

/** A client that hears whatever comes, as it is. */
function listener(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  const heard = { text: '' }
  socket.setEncoding('latin1').on('data', (piece: string) => {
    heard.text += piece
  })
  return { socket, heard }
}

describe('answers', () => {
  it('come in the order of their requests, whatever way each takes through the server', async () => {
    const { server, tokens } = await restHost()
    const { socket, heard } = listener(server.port)
    const expected = [
      ['/agents/hand', '200 {"id":"hand"'],
      ['/healthz', '200 {"status":"ok"'],
      ['/agents/hand?', '200 {"id":"hand"'],
      ['/nothing', '404 {"type":"urn:holt:error:NoSuchOperation"'],
      ['/agents/nobody', '404 {"type":"urn:holt:error:NoSuchAgent"'],
      ['/readyz', '200 {"status":"ready"'],
      ['/fleet', '200 {"host":'],
    ] as const
    const twice = [...expected, ...expected]
    socket.write(twice.map(([path]) => asks(path, tokens.read)).join(''))
    const found = (): string[] =>
      heard.text.split(/(?=HTTP\/1\.1 )/).map((answer) => `${answer.slice(9, 12)} ${answer.split('\r\n\r\n')[1] ?? ''}`)
    await eventually(() => found().length === twice.length && found().every((one) => one.endsWith('}')), 'all answers')
    expect(found()).toEqual(twice.map(([, answer]) => expect.stringContaining(answer)))
  })

  it('bear each header once', async () => {
    const { server, tokens } = await restHost({ origins: ['https://example.org'] })
    for (const path of ['/agents/hand', '/healthz', '/nothing', '/openapi.json', '/metrics']) {
      for (const origin of ['', 'Origin: https://example.org\r\n']) {
        const { socket, heard } = listener(server.port)
        socket.write(asks(path, tokens.read, `Connection: close\r\n${origin}`))
        await eventually(() => socket.readableEnded, 'the end of the answer')
        const [head = ''] = heard.text.split('\r\n\r\n')
        const names = head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(':')[0]!.toLowerCase())
        expect(names).toEqual([...new Set(names)])
        expect(names).toEqual(
          expect.arrayContaining(['cache-control', 'x-content-type-options', 'content-type', 'content-length']),
        )
      }
    }
  })

  it('reach others although clients have left before theirs was written', async () => {
    const { server, tokens, get } = await restHost()
    const leaving = Array.from({ length: 20 }, () => listener(server.port).socket)
    for (const socket of leaving) socket.write(asks('/agents/hand', tokens.read), () => socket.resetAndDestroy())
    const others = await Promise.all(Array.from({ length: 20 }, () => get('/agents/hand')))
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200))
    await eventually(() => leaving.every(({ closed }) => closed), 'that all have left')
    expect((await get('/healthz')).json).toEqual({ status: 'ok' })
  })
})
