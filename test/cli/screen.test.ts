/** The terminal of `holt top`: taken, and given back whichever way the process ends. */
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { type Key, terminalScreen } from '../../src/cli/screen.ts'
import { eventually } from '../../src/testkit/eventually.ts'

/** A terminal as the process has it. */
function terminal() {
  const raw: boolean[] = []
  const written: string[] = []
  const heard: [string, string][] = []
  const signals = new Map<string, () => void>()
  const dones: (() => void)[] = []
  const input = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => void raw.push(on) })
  const events = {
    key: (k: Key) => void heard.push(['key', k.text]),
    resize: () => {},
    end: (n: number) => void heard.push(['end', String(n)]),
  }
  const screen = terminalScreen({
    input,
    output: {
      columns: 80,
      rows: 24,
      write: (text, done) => {
        written.push(text)
        dones.push(done)
        return false
      },
      on: () => {},
      off: () => {},
    },
    signals: { on: (name, act) => void signals.set(name, act), off: (name) => void signals.delete(name) },
    colour: false,
    writeNow: (text) => void written.push(text),
  })
  screen.open(events)
  return { screen, input, raw, written, heard, signals, dones }
}

describe('the terminal', () => {
  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'])('is told of %s, and given back once', (name) => {
    const { screen, raw, written, heard, signals } = terminal()
    signals.get(name)!()
    expect(heard[0]![0]).toBe('end')
    screen.close()
    screen.close()
    expect(raw).toEqual([true, false])
    expect(written.at(-1)).toBe('\u001b[?7h\u001b[?25h\u001b[?1049l')
    expect([...signals.keys()]).toEqual([])
  })

  it('is given back when the process ends by an error', () => {
    const { written, signals, raw } = terminal()
    signals.get('exit')!()
    expect(raw.at(-1)).toBe(false)
    expect(written.at(-1)).toContain('\u001b[?1049l')
  })

  it('that is slow gets the newest frame, and none after it was given back', () => {
    const { screen, written, dones } = terminal()
    for (const text of ['one', 'two', 'three']) screen.draw([text])
    expect(written.join('')).not.toContain('two')
    dones[0]!()
    expect(written.at(-1)).toContain('three')
    screen.draw(['four'])
    screen.close()
    dones[1]!()
    expect(written.join('')).not.toMatch(/two|four/)
  })

  it('hands over keys, and says when it is gone', async () => {
    const { screen, input, heard } = terminal()
    input.write('jR')
    await eventually(() => heard.length === 2, 'two keys')
    expect(heard).toEqual([
      ['key', 'j'],
      ['key', 'R'],
    ])
    input.end()
    await eventually(() => heard.length === 3, 'the end')
    expect(heard.at(-1)).toEqual(['end', '129'])
    screen.close()
  })
})
