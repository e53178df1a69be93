/**
 * The bare platform, asks: an async handler found by name, and a reply with the id of the ask. No deadline, and no
 * word to the callers when this thread dies.
 */
import { parentPort } from 'node:worker_threads'

const handlers = {
  async echo(payload) {
    return payload
  },
}

parentPort.on('message', async ({ id, name, payload }) => {
  parentPort.postMessage({ id, result: await handlers[name](payload) })
})
