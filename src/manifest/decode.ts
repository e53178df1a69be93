/**
 * Bytes of a manifest or an environment file to text: UTF-8, with or without a byte-order mark, nothing that cannot be
 * seen. Called by yaml.ts and env.ts. Never tells the content in a refusal, since it may be a secret.
 */
import type { Finding } from './fault.ts'

export interface Refused extends Finding {
  readonly line: number
  readonly column: number
}

export type Decoded = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly refused: Refused }

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const UTF16_MARKS = ['fffe', 'feff']
const BOM = '\ufeff'
// Tab, LF and CR are the only control characters either grammar knows.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff]/

const SAVE = 'save the file as UTF-8'

function refuse(before: string, expected: string, found: string, hint: string): Decoded {
  const lines = before.split(/\r\n|\n|\r/)
  return { ok: false, refused: { expected, found, hint, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 } }
}

function nameOf(control: string): string {
  if (control === '\0') return 'a NUL character'
  if (control === BOM) return 'a byte-order mark that is not at the start'
  return `the control character U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Two bytes a character, every other one of them 0: UTF-16 without a mark. */
const looksLikeUtf16 = (bytes: Uint8Array): boolean =>
  bytes.length >= 2 && bytes.length % 2 === 0 && (bytes[0] === 0) !== (bytes[1] === 0)

export function decode(bytes: Uint8Array): Decoded {
  const start = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  if (UTF16_MARKS.includes(start) || looksLikeUtf16(bytes)) return refuse('', 'UTF-8', 'UTF-16', SAVE)
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    const lossy = new TextDecoder('utf-8').decode(bytes)
    return refuse(lossy.slice(0, lossy.indexOf('\ufffd')), 'UTF-8', 'bytes that are not UTF-8', SAVE)
  }
  const control = CONTROL.exec(text)
  if (control === null) return { ok: true, text }
  return refuse(text.slice(0, control.index), 'text', nameOf(control[0]), 'remove it')
}
