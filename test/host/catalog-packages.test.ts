/** Packages nobody should trust: folders and tarballs whose entries lie about where they are, what they are or how large. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Parser } from 'tar'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Draft, readPackage } from '../../src/host/catalog-draft.ts'
import { digestOf } from '../../src/host/catalog-folder.ts'
import { PACKAGE_LIMITS, type PackageLimits } from '../../src/host/catalog-rules.ts'
import { errorOf } from '../store/temp-store.ts'
import {
  agentFiles,
  contentsOf,
  entriesOf,
  type Files,
  hostile,
  packageFolder,
  type TarEntry,
  tarEntry,
  tarOf,
  tempFolder,
  writeTarball,
} from './packages.ts'

interface Taken {
  readonly files: Readonly<Record<string, string>>
  readonly leftOut: readonly string[]
}

/** What becomes of a package, in a folder with something beside it that nobody may touch. */
async function take(source: string, limits: Partial<PackageLimits> = {}): Promise<Taken> {
  const root = join(tempFolder(), 'catalog')
  const beside = join(root, '..', 'beside.txt')
  writeFileSync(beside, 'mine')
  const all = { ...PACKAGE_LIMITS, ...limits }
  const draft = await Draft.open(root, source, all)
  try {
    await readPackage(source, root, all, draft.take)
    return { files: contentsOf(await draft.settle()), leftOut: [...draft.leftOut] }
  } finally {
    await draft.discard()
    expect(readdirSync(root)).toEqual([])
    expect(readdirSync(join(root, '..')).sort()).toEqual(['beside.txt', 'catalog'])
    expect(contentsOf(join(root, '..'))['beside.txt']).toMatch(/mine$/)
  }
}

const refused = async (source: string, text: string | RegExp, limits: Partial<PackageLimits> = {}): Promise<void> => {
  const error = await errorOf(() => take(source, limits))
  expect(error).toMatchObject({ code: 'InvalidInput', message: expect.stringMatching(text) })
}

describe('paths of a tarball (C154)', () => {
  it.each([
    ['/etc/passwd', 'the absolute path'],
    ['../beside.txt', 'which may leave it'],
    ['package/../../beside.txt', 'which may leave it'],
    ['package/a/../b', 'which may leave it'],
    ['..', 'which may leave it'],
    ['package\\..\\..\\beside.txt', 'with a backslash'],
    ['C:/windows/x', 'the absolute path'],
    ['package/a\nb', 'control character'],
    [`package/${'a/'.repeat(40)}b`, 'at most 32 deep'],
    [`package/${'n'.repeat(300)}`, 'a name of more than 255 bytes'],
    [`package/${`${'n'.repeat(200)}/`.repeat(6)}x`, 'a path of more than 1024 bytes'],
  ])('%j is refused', async (path, text) => {
    await refused(hostile({ path, content: 'bad' }), text)
    await refused(hostile({ path, type: 'Directory' }), text)
    await refused(hostile({ path, type: 'SymbolicLink', linkpath: 'agent.yml' }), text)
  })

  it('that come twice are refused: the second is no way to change the first', async () => {
    await refused(hostile({ path: 'package/agent.yml', content: 'id: other' }), '"package/agent.yml" twice')
    await refused(hostile({ path: './package//agent.yml', content: 'id: other' }), '"package/agent.yml" twice')
    await refused(hostile({ path: 'package/agent.yml/x', content: '' }), 'twice')
    await refused(hostile({ path: 'package/roles', content: '' }), 'twice')
  })

  it('of folders may come twice, and before or after what is in them', async () => {
    const { files } = await take(
      hostile(
        { path: 'package/roles/', type: 'Directory' },
        { path: 'package/data/', type: 'Directory' },
        { path: 'package/data/', type: 'Directory' },
      ),
    )
    expect(files['data']).toBe('700 /')
  })
})

describe('links of a tarball', () => {
  const link = (path: string, linkpath: string): TarEntry => ({
    path: `package/${path}`,
    type: 'SymbolicLink',
    linkpath,
  })
  const hard = (path: string, linkpath: string): TarEntry => ({ path: `package/${path}`, type: 'Link', linkpath })

  it('that stay inside are kept', async () => {
    const { files } = await take(
      hostile(link('roles/again.ts', 'role.ts'), link('all', './roles'), hard('copy.yml', 'package/agent.yml')),
    )
    expect(files['roles/again.ts']).toMatch(/ ->$/)
    expect(files['all']).toMatch(/ ->$/)
    expect(files['copy.yml']).toBe(files['agent.yml'])
  })

  it.each([
    ['up and out', link('out', '../../beside.txt')],
    ['to the top of the draft, beside the package', link('out', '..')],
    ['to an absolute path', link('out', '/etc/passwd')],
    ['to nothing', link('out', 'nowhere')],
    ['to itself', link('out', 'out')],
  ])('%s are refused', async (_what, entry) => {
    await refused(
      hostile(entry),
      /expected links inside the package, found "package\/out", which (?:leaves it|leads to nothing in it)/,
    )
  })

  it('that lead out by way of one another are refused, though each looks as if it stayed', async () => {
    // a/b/up is the package itself, so a/b/up/.. is outside of it; by the letter it is a/b.
    await refused(
      hostile({ path: 'package/a/b/', type: 'Directory' }, link('a/b/up', '../..'), link('out', 'a/b/up/../..')),
      'which leaves it',
    )
  })

  it('are no way to write elsewhere: nothing goes through one', async () => {
    const through = [link('door', '../..'), { path: 'package/door/beside.txt', content: 'theirs' }]
    await refused(hostile(...through), 'cannot be made')
    await refused(hostile(...through.toReversed()), 'cannot be made')
    await refused(hostile(link('roles/role.ts', '/etc/passwd')), 'cannot be made')
  })

  it.each(['/etc/passwd', '../beside.txt', 'package/nowhere', 'package/roles', 'package/../../beside.txt'])(
    'hard ones to %j are refused',
    async (linkpath) => {
      await refused(hostile(hard('out', linkpath)), /found/)
    },
  )

  it('do not bring a secret in under another name', async () => {
    const entries = [{ path: 'package/.env', content: 'KEY=1' }, hard('env.txt', 'package/.env')]
    await refused(hostile(...entries), 'a link to a file before it')
  })
})

describe('what else a tarball can hold', () => {
  it.each(['CharacterDevice', 'BlockDevice', 'FIFO'] as const)('%s is refused', async (type) => {
    await refused(hostile({ path: 'package/x', type, devmaj: 1, devmin: 3 }), `which is ${type}`)
  })

  it('entries of unknown types are refused, not passed over', async () => {
    await refused(hostile({ path: 'package/x', type: 'SolarisACL' as 'File', content: 'x' }), 'of type SolarisACL')
  })

  it('headers of a fault are refused', async () => {
    const bytes = tarOf(entriesOf(agentFiles('greeter')))
    bytes[0] = bytes[0]! ^ 1
    await refused(writeTarball(bytes), 'checksum failure')
  })

  it('a tarball that was cut off is refused, wherever', async () => {
    const whole = tarOf(entriesOf(agentFiles('greeter', '1.0.0', {}, { 'data.txt': 'x'.repeat(2000) })))
    const zipped = gzipSync(whole)
    for (const part of [0.3, 0.6, 0.9]) {
      const cut = writeTarball(new Uint8Array(), 'cut.tar')
      writeFileSync(cut, zipped.subarray(0, zipped.length * part))
      await refused(cut, 'expected a tarball')
    }
    for (const [blocks, text] of [
      [3, 'Truncated'],
      [7, 'without an end'],
      [1, 'without an end'],
    ] as const)
      await refused(writeTarball(whole.subarray(0, whole.length - blocks * 512), 'cut.tar'), text)
  })

  it('what stands behind its end is not looked at, however much', async () => {
    const bytes = Buffer.concat([tarOf(entriesOf(agentFiles('greeter'))), Buffer.alloc(4_000_000, 'x')])
    const handed = vi.spyOn(Parser.prototype, 'write')
    onTestFinished(() => handed.mockRestore())
    for (const name of ['agent.tgz', 'agent.tar']) {
      handed.mockClear()
      expect((await take(writeTarball(bytes, name))).files['agent.yml']).toBeDefined()
      expect(handed).toHaveBeenCalledOnce()
    }
  })

  it('one that is compressed twice is refused, since nobody would count what comes out', async () => {
    await refused(writeTarball(gzipSync(tarOf(entriesOf(agentFiles('greeter'))))), 'compressed twice')
    // The magic number comes in pieces: its first byte in a member of its own, and then nothing for a whole read.
    const twice = gzipSync(tarOf(entriesOf(agentFiles('greeter'))))
    const rest = gzipSync(twice.subarray(1))
    const named = Buffer.concat([rest.subarray(0, 10), Buffer.alloc(200_000, 'n'), Buffer.from([0]), rest.subarray(10)])
    named[3] = 0x08
    const pieces = writeTarball(new Uint8Array(), 'pieces.tar')
    writeFileSync(pieces, Buffer.concat([gzipSync(twice.subarray(0, 1)), named]))
    await refused(pieces, 'compressed twice')
  })
})

describe('how much a package may hold', () => {
  const limits = { bytes: 10_000, entries: 12, depth: 5 }

  it('goes by what comes out, not by what its headers or its size say', async () => {
    const bomb = hostile({ path: 'package/zeros', content: Buffer.alloc(5_000_000) })
    await refused(bomb, 'at most 10000 bytes in all', limits)
    // One byte too many, over several files.
    await refused(
      hostile({ path: 'package/a', content: Buffer.alloc(6000) }, { path: 'package/b', content: Buffer.alloc(6000) }),
      'at most 10000 bytes',
      limits,
    )
  })

  it('counts what has no entry too: a tarball of headers alone', async () => {
    const pax = { path: 'PaxHeader', type: 'ExtendedHeader' as const, content: '11 a=bcdef\n' }
    const bytes = Buffer.concat([...new Array(2000).fill(tarEntry(pax)), tarOf(entriesOf(agentFiles('greeter')))])
    await refused(writeTarball(bytes), 'at most 10000 bytes unpacked', { ...limits, entries: 100 })
  })

  it('has a bound on files, folders and links, and on depth', async () => {
    const many = Array.from({ length: 20 }, (_, n) => ({ path: `package/${n}`, content: '' }))
    await refused(hostile(...many), 'at most 12 files and folders', limits)
    await refused(hostile(...many.map(({ path }) => ({ path, type: 'Directory' as const }))), 'at most 12', limits)
    await refused(hostile({ path: 'package/a/b/c/d/e', content: '' }), 'at most 5 deep', limits)
    expect((await take(hostile({ path: 'package/a/b/c/d', content: '' }), limits)).files['a/b/c/d']).toBeDefined()
  })

  it('counts the same for a folder', async () => {
    await refused(
      packageFolder(agentFiles('g', '1.0.0', {}, { large: 'x'.repeat(10_000) })),
      'at most 10000 bytes',
      limits,
    )
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}`, '']))
    await refused(packageFolder(agentFiles('g', '1.0.0', {}, many)), 'at most 12 files', limits)
    await refused(packageFolder(agentFiles('g', '1.0.0', {}, { 'a/b/c/d/e/f': '' })), 'at most 5 deep', limits)
  })

  it('does not count what is left out', async () => {
    const { files, leftOut } = await take(
      packageFolder(agentFiles('g', '1.0.0', {}, { '.git/large': 'x'.repeat(20_000) })),
      limits,
    )
    expect(leftOut).toEqual(['.git'])
    expect(Object.keys(files)).not.toContain('.git')
  })
})

describe('a folder', () => {
  it('may have links that stay inside, also to folders; they are copied as links', async () => {
    const source = packageFolder(agentFiles('greeter'))
    symlinkSync('role.ts', join(source, 'roles/again.ts'))
    symlinkSync('roles', join(source, 'all'))
    const { files } = await take(source)
    expect([files['roles/again.ts'], files['all']]).toEqual([
      expect.stringMatching(/->$/),
      expect.stringMatching(/->$/),
    ])
  })

  it.each([
    ['out of it', '../secret.txt'],
    ['to an absolute path, even to itself', 'ABSOLUTE'],
    ['to nothing', 'nowhere'],
  ])('with a link %s is refused', async (_what, target) => {
    const source = packageFolder(agentFiles('greeter'))
    writeFileSync(join(source, '..', 'secret.txt'), 'secret')
    symlinkSync(target === 'ABSOLUTE' ? join(source, 'agent.yml') : target, join(source, 'roles/link.ts'))
    await refused(source, 'expected links inside the package, found "roles/link.ts"')
  })

  it('may be named by a link itself', async () => {
    const source = packageFolder(agentFiles('greeter'))
    const link = join(tempFolder(), 'link')
    symlinkSync(source, link)
    expect((await take(link)).files['agent.yml']).toBeDefined()
  })

  it('with a pipe in it is refused, and the pipe not opened', async () => {
    const source = packageFolder(agentFiles('greeter'))
    expect(spawnSync('mkfifo', [join(source, 'pipe')]).status).toBe(0)
    await refused(source, 'which is a pipe, a socket or a device')
  })

  it('keeps an empty folder, and a folder that nobody else may read stays so', async () => {
    const source = packageFolder(agentFiles('greeter'))
    mkdirSync(join(source, 'data'))
    chmodSync(join(source, 'data'), 0o777)
    expect((await take(source)).files['data']).toBe('700 /')
  })

  it('with names that are none elsewhere is refused', async () => {
    const source = packageFolder(agentFiles('greeter', '1.0.0', {}, { 'a\\b': '' }))
    expect(existsSync(join(source, 'a\\b'))).toBe(true)
    await refused(source, 'with a backslash')
  })
})

describe('the digest', () => {
  const digest = (files: Files, more: (dir: string) => void = () => {}): Promise<string> => {
    const dir = packageFolder(files)
    more(dir)
    return digestOf(dir)
  }
  const FILES = { a: '1', 'b/c': '2' }

  it('is the same for the same, wherever it is and whatever is left out of it', async () => {
    expect(await digest(FILES)).toBe(await digest(FILES))
    expect(await digest({ ...FILES, '.env': 'KEY=1', 'b/.DS_Store': '', '.git/HEAD': '' })).toBe(await digest(FILES))
  })

  it('is another for another path, content, link, empty folder, or right to run', async () => {
    const link = (target: string) => (dir: string) => symlinkSync(target, join(dir, 'link'))
    const all = await Promise.all([
      digest(FILES),
      digest({ a: '2', 'b/c': '2' }),
      digest({ a: '1', 'b/d': '2' }),
      digest({ a: '1', 'b/c': '2', d: '' }),
      // Not what would be the same if names and contents were only strung together.
      digest({ a: '1b/c2' }),
      digest(FILES, link('a')),
      digest(FILES, link('b')),
      digest(FILES, (dir) => mkdirSync(join(dir, 'd'))),
      digest(FILES, (dir) => chmodSync(join(dir, 'a'), 0o755)),
    ])
    expect(new Set(all).size).toBe(all.length)
  })
})
