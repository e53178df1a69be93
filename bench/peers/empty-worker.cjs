/** The least a worker can be: one file of CommonJS, which starts faster than a module, that says it is there and waits. */
const { parentPort } = require('node:worker_threads')

parentPort.on('message', () => {})
parentPort.postMessage('up')
