/**
 * JSON text in pieces, as the text of its documents one by one: the elements of a list, of the lists named (`items`), or
 * one after the other (NDJSON). Never more than one document is held, so that a list of any length takes no more memory
 * than its largest element. Knows the borders of values and nothing else: what is between them may be junk.
 */
import { HoltError } from '../model/error.ts'
import { brief } from './document.ts'

/** The largest document: more than twice what Kubernetes' store takes of one object. */
export const MAX_DOCUMENT_CHARS = 4 * 1024 * 1024

const QUOTE = 34
const BACKSLASH = 92
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])
const SQUARE = 0x5b
const COMMA = 44
const COLON = 58
const NEWLINE = 10

const END_OF_TEXT = /["\\]/g
const BORDER = /["[\]{}]/g

function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

const isSpace = (code: number): boolean => code === 32 || code === NEWLINE || code === 13 || code === 9

/** Within which list the elements are documents: at the top, in a field of the top object, or in none. */
type Place = 'between' | 'object' | 'list' | 'line'

export class DocumentSplitter {
  readonly #lists: ReadonlySet<string>
  readonly #maxChars: number
  #place: Place = 'between'
  #depth = 0
  /** Depth of the list whose elements are documents. */
  #base = 0
  #inText = false
  #escaped = false
  /** The text that ended last, or is open, at the depth of the top object's keys. */
  #key = ''
  #afterKey = false
  /** What is held of the document that is open; null while none is. */
  #held: string | null = null
  /** The top object had a list: it is no document itself. */
  #isAnswer = false
  #begun = false

  /** @param lists fields of a top object whose elements are documents */
  constructor(lists: readonly string[], maxChars = MAX_DOCUMENT_CHARS) {
    this.#lists = new Set(lists)
    this.#maxChars = maxChars
  }

  /**
   * The documents that are whole with this piece.
   * @throws HoltError `InvalidInput` where the beginning is no JSON, `TooLarge` for a document past the limit
   */
  *push(piece: string): Generator<string> {
    let from = 0
    for (let i = this.#next(piece, 0); i < piece.length; i = this.#next(piece, i + 1)) {
      const code = piece.charCodeAt(i)
      if (this.#inText) {
        this.#text(piece, i, code)
        continue
      }
      if (this.#held === null && this.#begins(code)) {
        this.#held = ''
        from = i
      }
      const whole = this.#step(code)
      if (whole === 'none') continue
      const held = this.#held
      const end = whole === 'after' ? i + 1 : i
      this.#held = null
      if (held !== null && whole !== 'drop') yield this.#bounded(held + piece.slice(from, end))
    }
    if (this.#held !== null) this.#held = this.#bounded(this.#held + piece.slice(from))
  }

  /**
   * The document that the end of the text ends.
   * @throws HoltError `InvalidInput` for a text that is empty or ends too early
   */
  *end(): Generator<string> {
    if (!this.#begun) throw new HoltError('InvalidInput', 'expected JSON, found nothing')
    if (this.#place === 'line' && this.#held !== null) yield this.#held
    else if (this.#place !== 'between')
      throw new HoltError('InvalidInput', 'expected the end of a document, found the end of the input: it was cut off')
  }

  /** Where the next character is that may mean something: most of a text is passed over in one go. */
  #next(piece: string, from: number): number {
    const atKeys = this.#place === 'object' && this.#depth === 1
    if (this.#inText) return atKeys || this.#escaped ? from : find(END_OF_TEXT, piece, from)
    const inside = this.#place === 'list' ? this.#depth > this.#base : this.#place === 'object' && !atKeys
    return inside ? find(BORDER, piece, from) : from
  }

  #bounded(text: string): string {
    if (text.length <= this.#maxChars) return text
    const limit = `${Math.round(this.#maxChars / 1024)} Ki characters`
    throw new HoltError('TooLarge', `expected documents of at most ${limit}, found one that is larger`)
  }

  /** Within a text; its quotes do not count as borders. */
  #text(piece: string, i: number, code: number): void {
    if (this.#escaped) this.#escaped = false
    else if (code === BACKSLASH) this.#escaped = true
    else if (code === QUOTE) {
      this.#inText = false
      return
    }
    if (this.#place === 'object' && this.#depth === 1 && this.#key.length < 64) this.#key += piece[i]
  }

  /** Whether a document begins here. */
  #begins(code: number): boolean {
    if (isSpace(code)) return false
    if (this.#place === 'between') return !(code === SQUARE)
    return this.#place === 'list' && this.#depth === this.#base && code !== COMMA && !CLOSE.has(code)
  }

  /** What this character does: ends the open document before or after it, drops it, or nothing of these. */
  #step(code: number): 'before' | 'after' | 'drop' | 'none' {
    if (this.#place === 'line') return code === NEWLINE ? this.#to('between', 'before') : 'none'
    if (isSpace(code)) return 'none'
    if (this.#place === 'between') return this.#enter(code)
    if (code === QUOTE) return this.#openText()
    if (code === COLON) this.#afterKey = this.#place === 'object' && this.#depth === 1
    else if (OPEN.has(code)) return this.#open(code)
    else if (CLOSE.has(code)) return this.#close()
    else if (code === COMMA && this.#place === 'list' && this.#depth === this.#base) return 'before'
    else this.#afterKey = false
    return 'none'
  }

  #to(place: Place, answer: 'before' | 'after' | 'drop'): typeof answer {
    this.#place = place
    return answer
  }

  #enter(code: number): 'drop' | 'none' {
    if (!OPEN.has(code)) return this.#junk(code)
    this.#begun = true
    this.#depth = 1
    this.#isAnswer = false
    this.#place = code === SQUARE ? 'list' : 'object'
    this.#base = 1
    return code === SQUARE ? 'drop' : 'none'
  }

  #junk(code: number): 'none' {
    if (!this.#begun) {
      const found = code === 0xfffd || code === 0 ? 'bytes that are no UTF-8 text' : shownChar(code)
      throw new HoltError('InvalidInput', `expected JSON, found a text that begins with ${found}`, {
        next: 'print JSON: `-o json`, `--output json` or `--format json`',
      })
    }
    this.#place = 'line'
    return 'none'
  }

  #openText(): 'none' {
    this.#inText = true
    this.#afterKey = false
    this.#key = ''
    return 'none'
  }

  #open(code: number): 'drop' | 'none' {
    this.#depth++
    const list = this.#afterKey && code === SQUARE && this.#depth === 2 && this.#lists.has(this.#key)
    this.#afterKey = false
    if (!list) return 'none'
    this.#place = 'list'
    this.#base = 2
    this.#isAnswer = true
    return 'drop'
  }

  #close(): 'before' | 'after' | 'drop' | 'none' {
    this.#depth--
    this.#afterKey = false
    if (this.#place === 'list' && this.#depth === this.#base - 1) {
      this.#place = this.#depth === 0 ? 'between' : 'object'
      return 'before'
    }
    if (this.#place === 'list' || this.#depth > 0) return 'none'
    return this.#to('between', this.#isAnswer ? 'drop' : 'after')
  }
}

const shownChar = (code: number): string => `'${brief(String.fromCharCode(code))}'`
