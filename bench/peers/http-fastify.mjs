// Fastify with one route and no schema: the same answer as the bare server.
import Fastify from 'fastify'
import { summary } from './http-summary.mjs'

const app = Fastify()
app.get('/', async () => summary())
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
console.log('listening')
