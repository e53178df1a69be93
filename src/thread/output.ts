/**
 * The agent's own output: `write` of stdout and stderr is replaced, and each line is posted by itself, numbered across
 * both streams. The platform's pipes would lose lines when the thread is terminated or out of memory.
 */
import { CELL, type FlightRecorder, signedDifference } from '../model/flight-recorder.ts'
import type { FromThread } from '../model/wire.ts'

/** Lines the host has not taken yet; past that they are dropped and counted. */
const CREDIT = 16_384
/** A line without an end is cut here. */
const LINE_LIMIT = 65_536

type Stream = 'stdout' | 'stderr'

export function captureOutput(recorder: FlightRecorder, post: (message: FromThread) => void): void {
  const numbering = { next: 1 }
  const parts: Record<Stream, string> = { stdout: '', stderr: '' }
  const emit = (stream: Stream, lines: readonly string[]): void => {
    if (lines.length === 0) return
    if (signedDifference(numbering.next, recorder.read(CELL.linesTaken)) > CREDIT) {
      recorder.add(CELL.linesDropped, lines.length)
      return
    }
    post({ type: 'lines', first: numbering.next, stream, lines })
    numbering.next += lines.length
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    const decoder = new TextDecoder()
    const write = (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
      const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      const lines = (parts[stream] + text).split('\n')
      parts[stream] = lines.pop() ?? ''
      if (parts[stream].length > LINE_LIMIT) {
        lines.push(parts[stream])
        parts[stream] = ''
      }
      emit(stream, lines)
      const done = typeof encoding === 'function' ? encoding : callback
      if (typeof done === 'function') process.nextTick(done as () => void)
      return true
    }
    process[stream].write = write as typeof process.stdout.write
  }
  process.on('exit', () => {
    for (const stream of ['stdout', 'stderr'] as const) if (parts[stream] !== '') emit(stream, [parts[stream]])
  })
}
