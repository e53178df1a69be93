/** The unit file and the Dockerfile of `examples/deploy`: their syntax, and what they promise. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const place = (path: string): string => fileURLToPath(new URL(`../../examples/deploy/${path}`, import.meta.url))
const UNIT = place('systemd/holt.service')
const ANALYZE = '/usr/bin/systemd-analyze'

/** Keys by section; a line that is neither section, setting, comment nor blank is a fault. */
function unitOf(text: string): Record<string, Record<string, string>> {
  const sections: Record<string, Record<string, string>> = {}
  let section: Record<string, string> | null = null
  for (const line of text.split('\n').filter((one) => one.trim() !== '' && !/^[#;]/.test(one))) {
    const head = /^\[([A-Z][A-Za-z]+)\]$/.exec(line)
    const setting = /^([A-Z][A-Za-z]+)=(.*)$/.exec(line)
    if (head !== null) {
      section = {}
      sections[head[1]!] = section
    } else if (setting !== null && section !== null && !Object.hasOwn(section, setting[1]!))
      section[setting[1]!] = setting[2]!
    else throw new Error(`no line of a unit, or given twice: ${line}`)
  }
  return sections
}

describe('the systemd unit', () => {
  const { Unit, Service, Install } = unitOf(readFileSync(UNIT, 'utf8'))

  it('is a unit, and has what the host needs', () => {
    expect(Object.keys(Unit!)).toContain('Description')
    expect(Install).toEqual({ WantedBy: 'multi-user.target' })
    expect(Service).toMatchObject({
      Type: 'notify',
      NotifyAccess: 'all',
      KillMode: 'mixed',
      StateDirectory: 'holt',
      RuntimeDirectory: 'holt',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
    })
    expect(Number.parseInt(Service!['TimeoutStopSec']!, 10)).toBeGreaterThan(10)
    expect(Service).not.toHaveProperty('MemoryDenyWriteExecute')
  })

  it('knows no setting that systemd does not, where systemd is there to say so', () => {
    if (!existsSync(ANALYZE)) return
    const out = execFileSync('/bin/sh', ['-c', `"$0" verify --man=no "$1" 2>&1 || true`, ANALYZE, UNIT], {
      encoding: 'utf8',
    })
    const faults = out
      .split('\n')
      .filter((line) => line.includes('holt.service') && !/Command .* is not executable/.test(line))
    expect(faults).toEqual([])
  })
})

const WORDS = ['FROM', 'RUN', 'COPY', 'USER', 'ENV', 'VOLUME', 'STOPSIGNAL', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD']

describe('the Dockerfile', () => {
  const lines = readFileSync(place('docker/Dockerfile'), 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const of = (word: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))

  it('has only instructions that there are, from one tagged image', () => {
    expect(lines.filter((line) => !WORDS.includes(line.split(' ')[0]!))).toEqual([])
    expect(lines[0]).toMatch(/^FROM node:\d+-/)
  })

  it('runs as another than root, under an init, with arguments as lists', () => {
    expect(of('USER')).toEqual(['node'])
    expect(JSON.parse(of('ENTRYPOINT')[0]!)).toEqual(['/usr/bin/tini', '--'])
    expect(JSON.parse(of('CMD')[0]!).slice(0, 2)).toEqual(['holt', 'up'])
    expect(JSON.parse(of('VOLUME')[0]!)).toEqual(['/var/lib/holt'])
    expect(JSON.parse(of('HEALTHCHECK')[0]!.split(' CMD ')[1]!)).toContain('status')
  })
})
