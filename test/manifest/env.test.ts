import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadEnv, parseEnv, threadEnv } from '../../src/manifest/env.ts'
import { faultsOf, folder, refusal, removeFolders } from './folders.ts'

afterAll(removeFolders)

const parse = (text: string | Uint8Array): Record<string, string> => ({ ...parseEnv(text, '/fleet/a/.env') })

describe('values', () => {
  const good: [string, string, Record<string, string>][] = [
    ['plain', 'A=1\nB=two words \nC=', { A: '1', B: 'two words', C: '' }],
    ['C160 a byte-order mark', '\ufeffA=1\n', { A: '1' }],
    ['C160 CRLF', 'A=1\r\nB="x"\r\nC=\'y\'\r\n', { A: '1', B: 'x', C: 'y' }],
    ['C160 no final newline', 'A=1\nB=2', { A: '1', B: '2' }],
    ['C160 CRLF in a value of several lines', 'A="1\r\n2"\r\nB=3', { A: '1\n2', B: '3' }],
    [
      'C161 export',
      'export PORT=1\nexport\tX=2\nexporter=3\nexport port_number=4\nEXPORT=5\nexport=6\n  export  Y = 7',
      { PORT: '1', X: '2', exporter: '3', port_number: '4', EXPORT: '5', export: '6', Y: '7' },
    ],
    ['C163 JSON', String.raw`J="{\"a\":1}"`, { J: '{"a":1}' }],
    ['C163 single quotes', String.raw`K='s3!kk\n12'`, { K: String.raw`s3!kk\n12` }],
    ['C163 no quotes', String.raw`K=s3!kk\n12`, { K: String.raw`s3!kk\n12` }],
    ['C163 double quotes', String.raw`L="l1\nl2\r\t\\ \$X \q"`, { L: 'l1\nl2\r\t\\ $X \\q' }],
    [
      'C163 a key',
      'P="-----BEGIN-----\nabc=\n-----END-----\n"\nQ=1',
      { P: '-----BEGIN-----\nabc=\n-----END-----\n', Q: '1' },
    ],
    ['C163 backticks', 'B=`it\'s "so" \\n\nhere`', { B: 'it\'s "so" \\n\nhere' }],
    ['single quotes over lines', "S='a\nb'\nT=1", { S: 'a\nb', T: '1' }],
    ['an empty value in quotes', 'A=""\nB=\'\'\nC=``', { A: '', B: '', C: '' }],
    [
      'comments',
      '# A=0\n  # x\nA=1 # one\nB=a#b\nC=#c\nD= # d\nE="x # y" # z\nF=\'#\'#f',
      { A: '1', B: 'a#b', C: '#c', D: '', E: 'x # y', F: '#' },
    ],
    ['an equals sign in the value', 'A=b=c==\n', { A: 'b=c==' }],
    ['a quote inside', 'A=it"s\n', { A: 'it"s' }],
    ['no expansion', 'A=$HOME\nB="x$A"', { A: '$HOME', B: 'x$A' }],
    ['the last of two', 'A=1\nA=2', { A: '2' }],
    [
      'C146 as written',
      'A=0755\nB=010\nC=1e3\nD=1.10\nE=~\nF=no',
      { A: '0755', B: '010', C: '1e3', D: '1.10', E: '~', F: 'no' },
    ],
    ['an empty file', '', {}],
    ['unicode', 'A=žluťoučký 🦦', { A: 'žluťoučký 🦦' }],
  ]
  it.each(good)('%s', (_, text, expected) => {
    expect(parse(text)).toEqual(expected)
  })

  it('C157 names of Object.prototype are names', () => {
    const env = parseEnv('__proto__=1\nconstructor=2\ntoString=3\n', '.env')
    expect(Object.keys(env)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.values(env)).toEqual(['1', '2', '3'])
    expect(({} as Record<string, unknown>)['1']).toBeUndefined()
    expect(parseEnv('', '.env')['constructor']).toBeUndefined()
  })
})

describe('refusals', () => {
  const SECRET = 's3cr3t'
  const bad: [string, string | Uint8Array, number, string][] = [
    ['no sign', `A=1\n${SECRET}`, 2, 'a line without ='],
    ['export alone', `export ${SECRET}`, 1, 'a line without ='],
    ['a bad name', `1${SECRET}=1`, 1, 'a name that is none'],
    ['a name in two words', `A ${SECRET}=1`, 1, 'a name that is none'],
    ['an open double quote', `A=1\n\nB="${SECRET}\nC=2\nD=3`, 3, 'the end of the file'],
    ['an open single quote', `A='${SECRET}`, 1, 'the end of the file'],
    ['an open backtick', `A=\`${SECRET}`, 1, 'the end of the file'],
    ['text after a quote', `A="x"${SECRET}`, 1, 'more text'],
    ['an unescaped quote', `A="{"a":"${SECRET}"}"`, 1, 'more text'],
    ['text after a quote of several lines', `A="x\n${SECRET}" y\nB=1`, 1, 'more text'],
    ['C160 NUL', `A=1\nB=${SECRET}\0`, 2, 'a NUL character'],
    ['C160 UTF-16', Buffer.from(`\ufeffA=${SECRET}`, 'utf16le'), 1, 'UTF-16'],
    ['C160 UTF-16 without a mark', Buffer.from(`A=${SECRET}`, 'utf16le'), 1, 'UTF-16'],
    [
      'C160 not UTF-8',
      Buffer.concat([Buffer.from(`A=${SECRET}\nB=`), Buffer.from([0xe9, 0x0a])]),
      2,
      'bytes that are not UTF-8',
    ],
  ]
  it.each(bad)('%s: file and line, never the value', async (_, text, line, found) => {
    const error = await refusal(() => parseEnv(text, '/fleet/a/.env'))
    expect(error.code).toBe('InvalidManifest')
    expect(error.details['faults']).toEqual([expect.objectContaining({ file: '/fleet/a/.env', line, found })])
    expect(error.message).toContain(`/fleet/a/.env:${line}:`)
    expect(`${error.message}${JSON.stringify(error.details)}${error.stack}`).not.toContain(SECRET)
  })

  it('tells every bad line at once', async () => {
    const faults = await faultsOf(() => parseEnv('x\nA=1\ny\nB="1\n2"\nz', '.env'))
    expect(faults.map(({ line }) => line)).toEqual([1, 3, 6])
  })

  it.each(['A="x\n', 'A=`', "A='x'\n", `A="${'\\'}`])(
    'is done quickly with many of %j',
    (line) => {
      const text = line.repeat(Math.floor(250_000 / line.length))
      expect(() => parseEnv(`${text}\nB`, '.env')).toThrow(/expected/)
    },
    5000,
  )
})

describe('loadEnv', () => {
  it('reads the file of the folder, and nothing where there is none', async () => {
    expect({ ...(await loadEnv(folder({ '.env': 'A=1' }))) }).toEqual({ A: '1' })
    expect({ ...(await loadEnv(folder())) }).toEqual({})
    expect({ ...(await loadEnv(join(folder(), 'none'))) }).toEqual({})
  })

  it('refuses a folder and a file too large', async () => {
    const dir = folder()
    mkdirSync(join(dir, '.env'))
    expect((await faultsOf(() => loadEnv(dir)))[0]).toMatchObject({ file: join(dir, '.env'), found: 'a folder' })
    const large = folder()
    writeFileSync(join(large, '.env'), 'A=1\n'.repeat(100_000))
    expect((await faultsOf(() => loadEnv(large)))[0]!.found).toContain('more than')
  })
})

describe('C029 the environment of a thread', () => {
  const host = {
    PATH: '/bin',
    HOME: '/root',
    LANG: 'C',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    TMPDIR: '/tmp',
    NODE_ENV: 'test',
    https_proxy: 'http://p',
    NO_PROXY: '*',
    HOLT_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    NODE_OPTIONS: '--max-old-space-size=1',
    LC_: 'x',
    LCX: 'x',
    PATH_SECRET: 'secret',
    EMPTY: undefined,
  }
  const common = {
    PATH: '/bin',
    HOME: '/root',
    LANG: 'C',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    TMPDIR: '/tmp',
    NODE_ENV: 'test',
    https_proxy: 'http://p',
    NO_PROXY: '*',
  }

  it('is what any program needs of the host, and nothing else', () => {
    expect({ ...threadEnv(host, {}) }).toEqual(common)
  })

  it('has its own variables on top', () => {
    expect({ ...threadEnv(host, { X: '1', HOME: '/a' }) }).toEqual({ ...common, X: '1', HOME: '/a' })
  })

  it('is a new object each time and leaves the host alone', () => {
    const own = { X: '1' }
    const first = threadEnv(host, own)
    first['X'] = '2'
    first['PATH'] = '/x'
    expect(threadEnv(host, own)).toMatchObject({ X: '1', PATH: '/bin' })
    expect(threadEnv(host, {})['X']).toBeUndefined()
    expect(host.PATH).toBe('/bin')
  })

  it('C157 may hold __proto__', () => {
    const own = parseEnv('__proto__=1', '.env')
    expect(Object.getOwnPropertyDescriptor(threadEnv({}, own), '__proto__')?.value).toBe('1')
  })
})
