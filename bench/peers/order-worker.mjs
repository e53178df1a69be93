/**
 * The bare platform, paused by a message: arrays of events, each handled after the other, awaited. `pause` is answered
 * when its turn comes, after all that was posted before it. Dies of an event that is out of turn, and notes the longest
 * time between two.
 */
import { parentPort } from 'node:worker_threads'

let total = 0
let lastAt = process.hrtime.bigint()
let longest = { from: lastAt, to: lastAt, before: 0 }

const handlers = {
  async add({ n }) {
    if (n !== ++total) throw new Error(`expected ${total}, got ${n}`)
    const now = process.hrtime.bigint()
    if (now - lastAt > longest.to - longest.from) longest = { from: lastAt, to: now, before: total - 1 }
    lastAt = now
  },
  async pause() {
    parentPort.postMessage('paused')
  },
  async report() {
    parentPort.postMessage({ total, longest, lastAt })
    lastAt = process.hrtime.bigint()
    longest = { from: lastAt, to: lastAt, before: total }
  },
}

parentPort.on('message', async (events) => {
  for (const event of events) await handlers[event.name](event.payload)
})
