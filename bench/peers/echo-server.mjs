// A bare server of newline-delimited JSON on a Unix socket: parses each line and answers it with what it asked.
import { createServer } from 'node:net'

createServer((socket) => {
  socket.setEncoding('utf8')
  let rest = ''
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    let answers = ''
    for (const line of lines) answers += `${JSON.stringify({ ok: true, result: JSON.parse(line) })}\n`
    if (answers !== '') socket.write(answers)
  })
  socket.on('error', () => socket.destroy())
}).listen(process.argv[2], () => console.log('listening'))
