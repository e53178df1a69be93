/**
 * The bare platform, an array of events a message: each handled after the other, awaited. No accounting. `total`
 * answers with how many were handled.
 */
import { parentPort } from 'node:worker_threads'

let total = 0

const handlers = {
  async add(_payload) {
    total++
  },
  async total() {
    parentPort.postMessage(total)
  },
}

parentPort.on('message', async (events) => {
  for (const event of events) await handlers[event.name](event.payload)
})
