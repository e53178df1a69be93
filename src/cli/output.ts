/**
 * Where the command writes. A write is done once it has been taken, so that what is printed is whole when the process
 * ends, and a reader that has gone away ends the command without a word.
 */
import { fstatSync, writeSync } from 'node:fs'

export interface Sink {
  /** @throws ReaderGone; any other error of the system, as on a full disk */
  write(text: string): Promise<void>
}

/** Whoever read the output has gone: there is nobody left to write for. */
export class ReaderGone extends Error {
  constructor() {
    super('the reader of the output has gone')
    this.name = 'ReaderGone'
  }
}

/** The output could not be written. */
export class OutputFailed extends Error {
  constructor(cause: Error) {
    super(`the output could not be written: ${cause.message}`, { cause })
    this.name = 'OutputFailed'
  }
}

/** A sink over standard output (1) or standard error (2). */
export function streamSink(fd: 1 | 2): Sink {
  // A file takes what it can of a write and says no more; Node does not write the rest.
  if (isFile(fd)) return { write: async (text) => writeWhole(fd, text) }
  const stream = fd === 1 ? process.stdout : process.stderr
  // Each write hears of its own failure.
  stream.on('error', () => {})
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error === null || error === undefined ? resolve() : reject(explained(error))))
      }),
  }
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false
  }
}

function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
  } catch (error) {
    throw explained(error as Error)
  }
}

const explained = (error: Error): Error =>
  (error as NodeJS.ErrnoException).code === 'EPIPE' ? new ReaderGone() : new OutputFailed(error)
