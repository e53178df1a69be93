/**
 * The thread's side of the proof of identity: the keyed hash of `platform/proof.ts` (HMAC with SHA-256, RFC 2104 and FIPS
 * 180-4), written out. An idle agent needs nothing else of `node:crypto`, which costs each thread 3 ms and a quarter of a MB
 * to load; of a role that does use it the role pays.
 */
import type { Challenge } from '../platform/proof.ts'

const BLOCK = 64
const INNER = 0x36
const OUTER = 0x5c

/** The answer to a challenge, as hexadecimal digits. */
export function prove({ credential, nonce, instance, epoch }: Challenge): string {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  return hmac(bytes(credential), bytes(`${nonce}\n${instance}\n${epoch}`))
}

function hmac(key: Uint8Array, text: Uint8Array): string {
  const block = new Uint8Array(BLOCK)
  block.set(key.length > BLOCK ? sha256(key) : key)
  const padded = (pad: number): Uint8Array => block.map((byte) => byte ^ pad)
  const digest = sha256(joined(padded(OUTER), sha256(joined(padded(INNER), text))))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** Fractions of square and cube roots of the first primes, as the standard has them. */
function roots(): { readonly start: readonly number[]; readonly round: readonly number[] } {
  const start: number[] = []
  const round: number[] = []
  const fraction = (root: number): number => (root - Math.floor(root)) * 2 ** 32
  for (let n = 2, found = 0; found < 64; n++) {
    let isPrime = true
    for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) isPrime = false
    if (!isPrime) continue
    if (found++ < 8) start.push(fraction(Math.sqrt(n)) | 0)
    round.push(fraction(Math.cbrt(n)) | 0)
  }
  return { start, round }
}

const ROOTS = roots()

function sha256(bytes: Uint8Array): Uint8Array {
  const { start, round } = ROOTS
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n)
  const state = Int32Array.from(start)
  const words = new Int32Array(BLOCK)
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4)
    mix(state, words, round)
  }
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, i) => void digest.setInt32(i * 4, word))
  return new Uint8Array(digest.buffer)
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** One block: the first 16 words are its own, the rest follow from them. */
function mix(state: Int32Array, words: Int32Array, round: readonly number[]): void {
  for (let i = 16; i < BLOCK; i++) {
    const early = words[i - 15]!
    const late = words[i - 2]!
    const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
    const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
    words[i] = words[i - 16]! + s0 + words[i - 7]! + s1
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < BLOCK; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const first = (h + s1 + ((e & f) ^ (~e & g)) + round[i]! + words[i]!) | 0
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = state[i]! + word
  })
}
