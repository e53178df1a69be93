// One actor in a bare worker: `{ become }`, then arrays of messages; what it sends in one turn leaves together, by main.
import { parentPort } from 'node:worker_threads'
import { actorOf } from '../savina/behaviours.mjs'

let handle = null
let letters = []

const flush = () => {
  parentPort.postMessage(letters)
  letters = []
}
const send = (to, message) => {
  if (letters.push([to, message]) === 1) process.nextTick(flush)
}

parentPort.on('message', async (messages) => {
  if ('become' in messages) {
    handle = actorOf(messages.become)
    parentPort.postMessage('ready')
    return
  }
  for (const message of messages) await handle(message, send)
})
