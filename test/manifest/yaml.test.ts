import { afterAll, describe, expect, it } from 'vitest'
import type { AgentManifest } from '../../src/manifest/agent-manifest.ts'
import { loadAgent, loadFleet } from '../../src/manifest/load.ts'
import { agentFolder, brief, faultsOf, folder, refusal, removeFolders } from './folders.ts'

afterAll(removeFolders)

const PLAIN = 'id: reader\nname: Reader\nlimits:\n  heapMb: 32\n'

const load = (yml: string | Uint8Array): Promise<AgentManifest> => loadAgent(agentFolder(yml))
const found = async (yml: string | Uint8Array): Promise<string[]> => brief(await faultsOf(() => load(yml)))

async function sameAsPlain(yml: string | Uint8Array): Promise<void> {
  const { id, name, limits } = await load(yml)
  expect({ id, name, heapMb: limits.heapMb }).toEqual({ id: 'reader', name: 'Reader', heapMb: 32 })
}

describe('bytes', () => {
  const good: [string, string | Uint8Array][] = [
    ['as it is', PLAIN],
    ['a byte-order mark', `\ufeff${PLAIN}`],
    ['CRLF', PLAIN.replaceAll('\n', '\r\n')],
    ['a byte-order mark and CRLF', `\ufeff${PLAIN.replaceAll('\n', '\r\n')}`],
    ['spaces after keys and values', PLAIN.replaceAll('\n', '   \n').replaceAll(':', ':  ')],
    ['no final newline', PLAIN.trimEnd()],
    ['a document marker', `---\n${PLAIN}...\n`],
  ]
  it.each(good)('C149 %s gives the same', (_, yml) => sameAsPlain(yml))

  const bad: [string, Uint8Array, string][] = [
    ['UTF-16 LE with a mark', Buffer.from(`\ufeff${PLAIN}`, 'utf16le'), ': UTF-16'],
    ['UTF-16 LE without', Buffer.from(PLAIN, 'utf16le'), ': UTF-16'],
    ['UTF-16 BE', Buffer.from(`\ufeff${PLAIN}`, 'utf16le').swap16(), ': UTF-16'],
    ['NUL', Buffer.from('id: a\0b\n'), ': a NUL character'],
    ['a lone byte', Buffer.concat([Buffer.from('id: a\nname: '), Buffer.from([0xff])]), ': bytes that are not UTF-8'],
    ['a mark after ---', Buffer.from(`---\n\ufeff${PLAIN}`), ': a byte-order mark that is not at the start'],
    ['a bell', Buffer.from('id: a\nname: "\u0007"'), ': the control character U+0007'],
  ]
  it.each(bad)('C149 %s is refused', async (_, yml, text) => {
    expect(await found(yml)).toEqual([text])
  })

  it('C149 says where', async () => {
    const faults = await faultsOf(() => load('id: a\r\nname: x\0\r\n'))
    expect(faults[0]).toMatchObject({ line: 2, column: 8 })
  })
})

describe('shape', () => {
  const empty = 'an empty manifest'
  const cases: [string, string, string[]][] = [
    ['an empty file', '', [`: ${empty}`]],
    ['white space', ' \n\n', [`: ${empty}`]],
    ['only comments', '# a\n# b\n', [`: ${empty}`]],
    ['only a marker', '---\n', [`: ${empty}`]],
    ['null', '~\n', [': ~ (null)']],
    ['two documents', `${PLAIN}---\n${PLAIN}`, [': 2']],
    ['a list', '- id: a\n', [': a list']],
    ['a text', 'hello\n', [': "hello"']],
    ['a number', '5\n', [': 5']],
    ['YAML 1.1', `%YAML 1.1\n---\n${PLAIN}`, [': %YAML 1.1']],
    ['a tag', 'id: !who a\nname: A\n', [': Unresolved tag: !who']],
    ['a merge key', 'id: a\nname: A\n<<: { autostart: false }\n', ['["<<"]: the unknown field "<<"']],
    ['a key that is a list', 'id: a\nname: A\n? [x]\n: 1\n', [': a list or a map']],
    ['a key that is a number', 'id: a\nname: A\n1: 1\n', ['["1"]: the unknown field "1"']],
    ['an unclosed quote', 'id: "a\nname: A\n', [': Missing closing "quote']],
  ]
  it.each(cases)('C148 %s', async (_, yml, expected) => {
    expect(await found(yml)).toEqual(expected)
  })

  it.each(['limits:\n\theapMb: 64\n', 'limits:\n  heapMb: 64\n\tkillAfterMs: 9\n'])('C148 tabs: %j', async (yml) => {
    const faults = await faultsOf(() => load(`id: a\nname: A\n${yml}`))
    expect(faults[0]).toMatchObject({ found: 'Tabs are not allowed as indentation', hint: 'indent with spaces' })
    expect(faults[0]!.line).toBe(yml.indexOf('\t') < 10 ? 4 : 5)
    expect(faults[0]!.column).toBe(1)
  })

  it('the message is one line a fault: file, line, column, field, expected, found, what to do', async () => {
    const at = agentFolder('id: reader\nname: 0755\nautostrat: true\n')
    const error = await refusal(() => loadAgent(at))
    const [first, second, ...more] = error.message.split('\n')
    expect(more).toEqual([])
    expect(first).toBe(
      `${at}/agent.yml:2:7: name: expected a text of 1 to 200 bytes on one line, found 0755 (a number) (quote it)`,
    )
    expect(second).toMatch(/agent\.yml:3:1: autostrat: expected one of: id, .*\(did you mean autostart\?\)$/)
  })

  it('duplicate keys are refused with both lines', async () => {
    const faults = await faultsOf(() => load('id: a\nname: A\nlimits:\n  heapMb: 9\n  heapMb: 10\nid: b\n'))
    expect(faults.map(({ line, field, found }) => [line, field, found])).toEqual([
      [5, 'limits.heapMb', 'a second "heapMb"; the first is in line 4'],
      [6, 'id', 'a second "id"; the first is in line 1'],
    ])
  })

  it('C157 duplicate __proto__ keys are refused as unknown and twice', async () => {
    expect(await found('id: a\nname: A\n__proto__: 1\n__proto__: 2\n')).toEqual([
      '__proto__: the unknown field "__proto__"',
      '__proto__: a second "__proto__"; the first is in line 3',
    ])
  })

  it('lists at most a hundred faults and counts the rest', async () => {
    const many = Array.from({ length: 150 }, (_, i) => `zebra${i}: 1`).join('\n')
    const error = await refusal(() => load(`id: a\nname: A\n${many}\n`))
    expect(error.details['faults']).toHaveLength(100)
    expect(error.message.split('\n').at(-1)).toBe('… and 50 more')
  })
})

describe('scalars where a text is expected', () => {
  const other = [
    '0755',
    '010',
    '1e3',
    '0x10',
    '1.10',
    '.inf',
    '~',
    'true',
    'null',
    '0o17',
    '-1',
    '.nan',
    'no',
    'Yes',
    'off',
    'ON',
  ]
  it.each(other)('C146 refuses %s: quote it', async (text) => {
    const faults = await faultsOf(() => load(`id: a\nname: A\nversion: ${text}\n`))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatchObject({ field: 'version', line: 3, column: 10, hint: 'quote it' })
    expect(faults[0]!.found.startsWith(text)).toBe(true)
  })

  it.each([...other, '08', '1_000', '12:30', '2024-01-01'])('C146 takes "%s" in quotes as written', async (text) => {
    expect((await load(`id: a\nname: A\nversion: "${text}"\n`)).version).toBe(text)
  })

  it.each(['1_000', '12:30', '2024-01-01', '1.2.3', 'y', '08x'])('C146 keeps %s as written', async (text) => {
    expect((await load(`id: a\nname: A\nversion: ${text}\n`)).version).toBe(text)
  })

  it('C146 `id: no` is refused', async () => {
    expect(await found('id: no\nname: A\n')).toEqual(['id: no (true or false to other readers)'])
  })

  it('a field without a value is missing', async () => {
    expect(await found('id: a\nname:\n')).toEqual(['name: nothing (null)'])
  })
})

describe('anchors and size', () => {
  it('an anchor may be used again', async () => {
    const yml = 'id: a\nname: A\ncapabilities:\n  - { id: x, allow: &all [a, b] }\n  - { id: y, allow: *all }\n'
    expect((await load(yml)).capabilities[1]).toEqual({ id: 'y', allow: ['a', 'b'] })
  })

  it('a fault behind an alias is told at the alias', async () => {
    const yml = 'id: a\nname: A\ncapabilities:\n  - { id: x, allow: &all [1] }\n  - { id: y, allow: *all }\n'
    const faults = await faultsOf(() => load(yml))
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [4, 'capabilities[0].allow[0]'],
      [5, 'capabilities[1].allow[0]'],
    ])
  })

  it('a cycle is refused', async () => {
    expect(await found('id: a\nname: A\nroles: &r [*r]\n')).toContain('roles[0]: the alias *r inside its own anchor')
    expect(await found('&a\nid: a\nname: *a\n')).toContain('name: the alias *a inside its own anchor')
  })

  it('an alias without an anchor is refused', async () => {
    expect(await found('id: a\nname: *who\n')).toContain('name: none')
  })

  const bomb = (field: string): string => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i <= 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
      )
    return `id: a\nname: A\n${lines.join('\n')}\n${field}: *a9\n`
  }
  it.each(['labels', 'env', 'roles'])('C152 nine levels of nine aliases in %s are refused', async (field) => {
    const before = process.memoryUsage().heapUsed
    expect((await found(bomb(field))).some((text) => text.endsWith(': more'))).toBe(true)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6)
  })

  it('C152 a bomb of supervisors is refused', async () => {
    const leaf = 'x: &s0 { supervisor: { id: s }, children: [] }\n'
    const lines = Array.from({ length: 9 }, (_, i) => {
      return `x${i}: &s${i + 1} { supervisor: { id: s }, children: [${Array(9).fill(`*s${i}`).join(',')}] }`
    })
    const dir = folder({ 'holt.yml': `${leaf}${lines.join('\n')}\nchildren: [*s9]\n` })
    expect(brief(await faultsOf(() => loadFleet(dir))).some((text) => text.endsWith(': more'))).toBe(true)
  })

  const size = 250_000
  const heavy: [string, string, string?][] = [
    ['[', '['.repeat(size), '64 levels'],
    ['{', '{a: '.repeat(size / 4), '64 levels'],
    ['-', '- '.repeat(size / 2)],
    [',', `[${','.repeat(size)}`],
    ['&', '&a '.repeat(size / 3)],
    ['documents', '---\n'.repeat(size / 4)],
    ['directives', '%a\n'.repeat(size / 3)],
  ]
  it.each(heavy)('C152 many %s are refused before they are parsed', async (_, yml, limit = '50000 tokens') => {
    expect((await found(yml))[0]).toContain(`more than ${limit}`)
  })

  it('C152 a deep tree is refused', async () => {
    const stairs = Array.from({ length: 100 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')
    expect((await found(stairs)).some((text) => text.endsWith('.a: more'))).toBe(true)
  })

  it('C152 a file that is too large is not read', async () => {
    expect(await found('#'.repeat(300_000))).toEqual([': 300000 bytes, more than 262144'])
  })
})
