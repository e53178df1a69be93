/** Bytes to lines: the same lines however the bytes are cut, within a bound. */
import { array, assert, integer, property, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineReader } from '../../../src/transports/uds/line-reader.ts'

const LF = 10

function linesOf(reader: LineReader, pieces: readonly Buffer[]): string[] {
  const lines: string[] = []
  for (const piece of pieces) {
    reader.push(piece)
    for (let line = reader.next(); line !== null; line = reader.next()) lines.push(line.toString('latin1'))
  }
  return lines
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => Buffer.from(bytes.subarray(at[index], end)))
}

describe('a line reader', () => {
  it('gives the same lines however they are cut', () => {
    const byte = integer({ min: 0, max: 14 }).map((n) => (n > 11 ? LF : n + 100))
    assert(
      property(
        array(byte, { maxLength: 300 }),
        array(integer({ min: 0, max: 300 }), { maxLength: 40 }),
        (all, places) => {
          const bytes = Buffer.from(all)
          const whole = bytes.toString('latin1').split('\n')
          const reader = new LineReader(1000)
          expect(linesOf(reader, cut(bytes, places))).toEqual(whole.slice(0, -1))
          expect(reader.held).toBe(whole.at(-1)!.length)
          expect(reader.rest().toString('latin1')).toBe(whole.at(-1))
          expect(reader.held).toBe(0)
        },
      ),
    )
  })

  it('never gives a line over its bound, nor anything after it, and never misses one', () => {
    assert(
      property(
        uint8Array({ maxLength: 60 }),
        integer({ min: 0, max: 60 }),
        integer({ min: 1, max: 9 }),
        (all, limit, size) => {
          const bytes = Buffer.from(all.map((byte) => (byte < 20 ? LF : byte)))
          const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
            bytes.subarray(n * size, (n + 1) * size),
          )
          const whole = bytes.toString('latin1').split('\n')
          const first = whole.findIndex((line) => line.length > limit)
          const reader = new LineReader(limit)
          const lines = linesOf(
            reader,
            pieces.map((piece) => Buffer.from(piece)),
          )
          expect(lines).toEqual(whole.slice(0, first === -1 ? -1 : first))
          expect(reader.overlong).toBe(first !== -1)
        },
      ),
    )
  })

  it('copies what is held a bounded number of times, though it comes a byte at a time', () => {
    const reader = new LineReader(1_048_576)
    const byte = Buffer.from('x')
    for (let n = 0; n < 1_000_000; n++) {
      reader.push(byte)
      if (reader.next() !== null) throw new Error('a line before its end')
    }
    reader.push(Buffer.from('\n'))
    expect(reader.next()?.length).toBe(1_000_000)
    expect(reader.held).toBe(0)
  })
})
