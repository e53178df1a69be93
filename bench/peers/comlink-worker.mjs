/**
 * Comlink: the same handlers as methods of an exposed object, over its own adapter for Node. Every call is answered,
 * also one whose answer nobody needs.
 */
import { parentPort } from 'node:worker_threads'
import { expose } from 'comlink'
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs'

let total = 0

const api = {
  async add(_payload) {
    total++
  },
  async echo(payload) {
    return payload
  },
  total: () => total,
}

expose(api, nodeEndpoint(parentPort))
