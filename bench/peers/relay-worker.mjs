/**
 * The bare platform, worker to worker, both ends: floods and counts, throws a ball to and fro, asks with an id map. What
 * it sends goes out on `data` in arrays of `batch` events, one event a message where that is 1; an array that is not
 * full leaves at the end of what was handled. No bound on what is in flight, and no accounting. `control` is for who
 * measures.
 */
import { parentPort, workerData } from 'node:worker_threads'

const { control, data = parentPort, batch } = workerData

const payloadOf = (n) => ({ n, text: 'hello' })
const waiting = new Map()
let lastId = 0
let events = []
let total = 0
let expected = 0
let rounds = 0

function flush() {
  if (events.length === 0) return
  data.postMessage(events)
  events = []
}

function send(event) {
  if (batch === 1) return data.postMessage(event)
  if (events.push(event) === batch) flush()
}

function ask(payload) {
  return new Promise((resolve) => {
    const id = ++lastId
    waiting.set(id, resolve)
    send({ name: 'echo', payload, id })
    flush()
  })
}

const handlers = {
  async add(_payload) {
    if (++total === expected) control.postMessage(total)
  },
  async ball(payload) {
    if (rounds === 0) send({ name: 'ball', payload })
    else if (payload.n === rounds) control.postMessage(payload.n)
    else send({ name: 'ball', payload: payloadOf(payload.n + 1) })
  },
  async echo(payload, id) {
    send({ name: 'answer', payload, id })
  },
  async answer(payload, id) {
    const settle = waiting.get(id)
    waiting.delete(id)
    settle(payload)
  },
}

data.on('message', async (message) => {
  if (batch === 1) return handlers[message.name](message.payload, message.id)
  for (const event of message) await handlers[event.name](event.payload, event.id)
  flush()
})

const orders = {
  expect(count) {
    expected = count
    control.postMessage(count)
  },
  flood(count) {
    for (let n = 1; n <= count; n++) send({ name: 'add', payload: payloadOf(n) })
    flush()
  },
  serve(count) {
    rounds = count
    send({ name: 'ball', payload: payloadOf(1) })
    flush()
  },
  async asks(count) {
    let right = 0
    for (let n = 0; n < count; n++) if ((await ask(n)) === n) right++
    control.postMessage(right)
  },
}

control.on('message', ([order, count]) => orders[order](count))
