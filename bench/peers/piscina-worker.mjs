/**
 * Piscina: the same handlers as named tasks. The count lives in the module of the thread, so the pool must have one
 * thread only.
 */
let total = 0

export async function add(_payload) {
  total++
}

export async function echo(payload) {
  return payload
}

export const count = () => total
