// A bare server of Node: answers every GET with the same kind of object that Holt answers, and does nothing else.
import { createServer } from 'node:http'
import { summary } from './http-summary.mjs'

createServer((_req, res) => {
  const body = JSON.stringify(summary())
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  res.end(body)
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'))
