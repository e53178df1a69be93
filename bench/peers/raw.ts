/**
 * The bare platform as a peer: a worker that sends and asks by `postMessage`. An error in the worker has no listener
 * and ends the process, which the harness shows as a failure.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export type RawWorkerFile = 'raw-each' | 'raw-array' | 'raw-ask'

export interface RawEvent {
  readonly name: string
  readonly payload: unknown
}

export async function startRawWorker(file: RawWorkerFile): Promise<Worker> {
  const worker = new Worker(new URL(`./${file}-worker.mjs`, import.meta.url), { execArgv: [] })
  await once(worker, 'online')
  return worker
}

/** Sends `message` and waits for the one reply. */
export async function replyTo(worker: Worker, message: unknown): Promise<unknown> {
  const reply = once(worker, 'message')
  worker.postMessage(message)
  const [value] = await reply
  return value
}

/** Asks over a port: an id each, and a map of who waits. No time-out and no rejection when the worker dies. */
export async function startRawAsker(): Promise<(name: string, payload: unknown) => Promise<unknown>> {
  const worker = await startRawWorker('raw-ask')
  const waiting = new Map<number, (result: unknown) => void>()
  let lastId = 0
  worker.on('message', ({ id, result }: { id: number; result: unknown }) => {
    const settle = waiting.get(id)
    waiting.delete(id)
    settle?.(result)
  })
  return (name, payload) =>
    new Promise((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      worker.postMessage({ id, name, payload })
    })
}
