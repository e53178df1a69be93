/**
 * Text for a terminal: how wide it is, cut and wrapped to a width, and made harmless. Everything that agents, manifests
 * or callers wrote passes through `clean` before it is shown: it could move the cursor or hide what follows.
 */

/** What the lines are for. */
export interface Look {
  /** Columns; no line is longer. */
  readonly width: number
  readonly colour: boolean
}

const ELLIPSIS = '…'

// Control characters, and those that turn the direction of the rest of the line or cannot be seen.
const HARMFUL = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f9ff}\u{20000}-\u{3fffd}]/u
const MARK = /\p{Mn}|\p{Me}|\u200d/u
const ASCII = /^[\x20-\x7e]*$/

/** One line, with what cannot be seen spelt out: a tab as a space, a line feed as `\n`, others by their number. */
export function clean(text: string): string {
  if (ASCII.test(text)) return text
  return text.replace(HARMFUL, (c) => {
    if (c === '\t') return ' '
    if (c === '\n') return '\\n'
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

const widthOfOne = (c: string): number => (WIDE.test(c) ? 2 : MARK.test(c) ? 0 : 1)

/** Columns that a text takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const c of text) width += widthOfOne(c)
  return width
}

/** At most `width` columns; what had to go is told by an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let room = width - 1
  for (const c of text) {
    room -= widthOfOne(c)
    if (room < 0) break
    kept += c
  }
  return width > 0 ? kept + ELLIPSIS : ''
}

/** Exactly as wide as asked for, if it is not wider already. */
export function pad(text: string, width: number, right = false): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return right ? space + text : text + space
}

/** Words in lines of at most `width`, each after `indent`, the first after `first`. A word too long for a line is cut in pieces. */
export function wrap(text: string, width: number, indent = '', first = indent): string[] {
  const lines: string[] = []
  let line = first
  let empty = true
  for (const word of text.split(' ').filter(Boolean)) {
    let rest = word
    if (!empty && widthOf(line) + 1 + widthOf(rest) <= width) {
      line += ` ${rest}`
      continue
    }
    if (!empty) {
      lines.push(line)
      line = indent
    }
    for (
      let room = Math.max(1, width - widthOf(line));
      widthOf(rest) > room;
      room = Math.max(1, width - widthOf(line))
    ) {
      const head = fitting(rest, room)
      lines.push(line + head)
      rest = rest.slice(head.length)
      line = indent
    }
    line += rest
    empty = false
  }
  return [...lines, line]
}

/** As much of the beginning as fits, at least one character. */
function fitting(text: string, room: number): string {
  let head = ''
  let width = 0
  for (const c of text) {
    width += widthOfOne(c)
    if (width > room && head !== '') break
    head += c
  }
  return head
}
