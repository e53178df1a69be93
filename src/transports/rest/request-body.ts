/** The body of a request, whole and bounded; what is larger is not read to its end. */
import type { IncomingMessage } from 'node:http'
import { HoltError } from '../../model/error.ts'

/** @throws HoltError `TooLarge`; `Aborted` where the client has gone before the end of it */
export function readBytes(req: IncomingMessage, most: number): Promise<Uint8Array> {
  if (Number(req.headers['content-length'] ?? 0) > most) return Promise.reject(tooLarge(most))
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    req.on('data', (piece: Buffer) => {
      length += piece.length
      if (length > most) {
        pieces.length = 0
        req.pause()
        reject(tooLarge(most))
      } else pieces.push(piece)
    })
    req.on('end', () => resolve(Buffer.concat(pieces)))
    req.on('error', reject)
    req.on('close', () => reject(new HoltError('Aborted', 'the client has gone before the end of its request')))
  })
}

const tooLarge = (most: number): HoltError =>
  new HoltError('TooLarge', `expected a body of at most ${most} bytes, found a larger one`)
