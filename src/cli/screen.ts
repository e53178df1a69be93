/**
 * The terminal as a whole screen with keys: for `holt top`. Enters the alternate screen in raw mode and gives the
 * terminal back as it was, whichever way the process ends, short of SIGKILL. What is drawn is decided elsewhere.
 */
import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { emitKeypressEvents } from 'node:readline'
import type { Readable } from 'node:stream'

/** A key as it was struck. */
export interface Key {
  /** What it writes, `R`; empty for a key that writes nothing. */
  readonly text: string
  /** `up`, `pagedown`, `r`. */
  readonly name: string
  readonly ctrl: boolean
}

export interface ScreenEvents {
  key(key: Key): void
  resize(): void
  /** A signal, or the terminal is gone. @param exit what the process is to end with */
  end(exit: number): void
}

export interface Screen {
  size(): { readonly width: number; readonly height: number; readonly colour: boolean }
  /** Takes the terminal, until `close`. */
  open(events: ScreenEvents): void
  /** Shows these lines and nothing else. What the terminal is too slow for is left out, never queued. */
  draw(lines: readonly string[]): void
  /** Gives the terminal back; may be called again. */
  close(): void
}

/** The part of standard output that is needed. */
export interface TerminalOut {
  readonly columns?: number
  readonly rows?: number
  write(text: string, done: (error?: Error | null) => void): boolean
  on(event: 'resize' | 'error', heard: () => void): unknown
  off(event: 'resize' | 'error', heard: () => void): unknown
}

export type TerminalIn = Readable & { setRawMode?(raw: boolean): unknown }

/** The part of the process that is needed. */
export interface Signals {
  on(event: string, heard: () => void): unknown
  off(event: string, heard: () => void): unknown
}

export interface TerminalParts {
  readonly input: TerminalIn
  readonly output: TerminalOut
  readonly signals: Signals
  readonly colour: boolean
  /** Writes at once: the process may be about to end. @default to standard output */
  readonly writeNow?: (text: string) => void
}

// Alternate screen, no cursor, no wrapping at the last column; and back.
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[H\u001b[2J'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
// Before the text, never behind it: at the last column it would take a character with it.
const ERASE_LINE = '\u001b[2K'
const ERASE_BELOW = '\u001b[J'
const ENDING = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const
const SIZE_WHEN_UNKNOWN = { width: 80, height: 24 }

export function terminalScreen({ input, output, signals, colour, writeNow = toTerminal }: TerminalParts): Screen {
  let writing = false
  let waiting: string | undefined
  let undo: (() => void) | undefined

  const write = (text: string): void => {
    if (writing) {
      waiting = text
      return
    }
    writing = true
    output.write(text, () => {
      writing = false
      const next = waiting
      waiting = undefined
      if (next !== undefined && undo !== undefined) write(next)
    })
  }

  return {
    size: () => ({
      width: output.columns || SIZE_WHEN_UNKNOWN.width,
      height: output.rows || SIZE_WHEN_UNKNOWN.height,
      colour,
    }),
    open(events) {
      const close = (): void => this.close()
      const unhear = hear(input, output, signals, events, close)
      undo = () => {
        unhear()
        input.setRawMode?.(false)
        // A terminal that is listened to would keep the process alive.
        input.pause()
        writeNow(LEAVE)
      }
      input.setRawMode?.(true)
      input.resume()
      writeNow(ENTER)
    },
    draw(lines) {
      if (undo !== undefined) write(`${HOME}${lines.map((line) => ERASE_LINE + line).join('\r\n')}${ERASE_BELOW}`)
    },
    close() {
      const act = undo
      undo = undefined
      waiting = undefined
      act?.()
    },
  }
}

/** @returns stops listening */
function hear(input: TerminalIn, output: TerminalOut, signals: Signals, events: ScreenEvents, close: () => void) {
  const onKey = (text: string | undefined, key: { name?: string; ctrl?: boolean }): void =>
    events.key({ text: text ?? '', name: key.name ?? '', ctrl: key.ctrl === true })
  const gone = (): void => events.end(128 + constants.signals.SIGHUP)
  const continued = (): void => {
    // Whoever stopped the process has had the terminal meanwhile.
    input.setRawMode?.(true)
    output.write(ENTER, () => {})
    events.resize()
  }
  const ending = ENDING.map((name) => [name, () => events.end(128 + constants.signals[name])] as const)
  emitKeypressEvents(input)
  input.on('keypress', onKey).on('end', gone).on('error', gone)
  output.on('resize', events.resize)
  output.on('error', gone)
  for (const [name, end] of ending) signals.on(name, end)
  signals.on('SIGCONT', continued)
  signals.on('exit', close)
  return () => {
    input.off('keypress', onKey).off('end', gone).off('error', gone)
    // The listener for errors stays: a terminal that is gone fails once more when it is given back.
    output.off('resize', events.resize)
    for (const [name, end] of ending) signals.off(name, end)
    signals.off('SIGCONT', continued)
    signals.off('exit', close)
  }
}

function toTerminal(text: string): void {
  try {
    writeSync(1, text)
  } catch {
    // The terminal is gone, or takes nothing now.
  }
}
