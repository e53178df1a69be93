/** A server that is out of descriptors, in a process that may open 64. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { RawClient } from '../raw-client.ts'
import { ownFolder } from './on-socket.ts'

it('C109: out of descriptors it drops clients, says so seldom, and serves again by itself', async () => {
  const path = join(ownFolder(), 's')
  const script = fileURLToPath(new URL('./few-descriptors.ts', import.meta.url))
  // exec: the process that is ended is the server itself.
  const command = 'ulimit -n 64 && exec "$0" --import tsx "$1" "$2"'
  const child = spawn('sh', ['-c', command, process.execPath, script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (piece: Buffer) => {
    printed += piece.toString()
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await eventually(
    () => printed.includes('listening'),
    () => `the server, which said: ${printed}`,
  )
  const first = new RawClient(path).send({ cmd: 'echo', args: [1] })
  await first.answered(1)
  const many = Array.from({ length: 200 }, () => new RawClient(path))
  await eventually(() => many.some(({ ended: dropped, closed }) => dropped || closed), 'a client that is dropped')
  first.send({ cmd: 'echo', args: [2] })
  expect(await first.answered(2)).toEqual([1, 2].map((result) => ({ ok: true, result })))
  for (const { socket } of many) socket.destroy()
  await eventually(async () => {
    const one = new RawClient(path).send({ cmd: 'echo', args: [3] })
    await eventually(() => one.lines.length === 1 || one.ended || one.closed, 'an answer or the end')
    one.socket.destroy()
    return one.lines.length === 1
  }, 'service again')
  expect(printed.trim().split('\n').length).toBeLessThan(10)
})
