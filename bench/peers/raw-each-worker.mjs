/**
 * The bare platform, one event a message: an async handler for each, no mailbox and no accounting. `total` answers
 * with how many were handled; ports keep order, so it comes after every event sent before.
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

parentPort.on('message', (event) => handlers[event.name](event.payload))
