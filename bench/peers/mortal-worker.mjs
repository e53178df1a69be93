/** The bare platform: answers with what it is sent, and dies of an error when it is told to. */
import { parentPort } from 'node:worker_threads'

parentPort.on('message', (message) => {
  if (message === 'die') throw new Error('die')
  parentPort.postMessage(message)
})
