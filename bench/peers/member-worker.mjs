/**
 * The bare platform, one of many: arrays of events, each handled after the other, awaited. Notes when it has handled the
 * last it is told to expect. No accounting.
 */
import { parentPort } from 'node:worker_threads'

let total = 0
let expected = 0
let endedAt = 0

const handlers = {
  async expect(count) {
    total = 0
    expected = count
  },
  async add(_payload) {
    if (++total === expected) endedAt = Number(process.hrtime.bigint())
  },
  async report() {
    parentPort.postMessage({ total, endedAt })
  },
}

parentPort.on('message', async (events) => {
  for (const event of events) await handlers[event.name](event.payload)
})
