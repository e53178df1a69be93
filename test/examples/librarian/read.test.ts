import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandError } from 'holt/role'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import read from '../../../examples/librarian/agents/reader/roles/read.ts'
import type { Fate } from '../../../src/model/message.ts'
import { fakeContext } from './fleet-by-hand.ts'

let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'librarian-read-'))
})

afterAll(() => rm(root, { recursive: true, force: true }))

async function file(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(root, name), content)
  return join(root, name)
}

const handle = read.commands.read.handle

test('a document goes to the librarian whole, and the answer is a receipt', async () => {
  const path = await file('a.md', '# Otters\n\nAn *otter* lives in a [holt](x).\n')
  const ctx = fakeContext()
  expect(await handle({ path }, ctx)).toEqual({ bytes: 43, terms: 5 })
  expect(ctx.emit).toHaveBeenCalledWith('librarian', 'document.added', {
    path,
    title: 'Otters',
    excerpt: 'Otters An otter lives in a holt.',
    bytes: 43,
    length: 6,
    terms: expect.objectContaining({ otter: 2, live: 1, holt: 1 }),
  })
})

test('a document without a heading is called by its file', async () => {
  const path = await file('plain.md', 'only text')
  const ctx = fakeContext()
  await handle({ path }, ctx)
  expect(ctx.emit).toHaveBeenCalledWith('librarian', 'document.added', expect.objectContaining({ title: 'plain.md' }))
})

test('bytes that are not UTF-8 throw what is no answer', async () => {
  const path = await file('latin1.md', Buffer.from('# Gr\u00f6\u00dfe', 'latin1'))
  const ctx = fakeContext()
  const error = await handle({ path }, ctx).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TypeError)
  expect(error).not.toBeInstanceOf(CommandError)
  expect(error).toMatchObject({ code: 'ERR_ENCODING_INVALID_ENCODED_DATA' })
  expect(ctx.emit).not.toHaveBeenCalled()
})

test('a file that is gone is an answer', async () => {
  const gone = handle({ path: join(root, 'gone.md') }, fakeContext())
  await expect(gone).rejects.toBeInstanceOf(CommandError)
  await expect(gone).rejects.toMatchObject({ code: 'ENOENT' })
})

test.each<[Fate['fate'], boolean]>([
  ['handled', true],
  ['queued', true],
  ['dropped', false],
  ['ignored', false],
  ['expired', false],
  ['aborted', false],
  ['crashed', false],
  ['quarantined', false],
])('a document whose fate at the librarian is %s: read is %s', async (fate, taken) => {
  const path = await file('b.md', 'text')
  const answer = handle({ path }, fakeContext({ emit: vi.fn(async () => ({ fate })) }))
  if (taken) await expect(answer).resolves.toEqual({ bytes: 4, terms: 1 })
  else await expect(answer).rejects.toMatchObject({ name: 'CommandError', code: 'NotIndexed' })
})

test('an input without a path is refused', async () => {
  const input = read.commands.read.input?.['~standard']
  expect(await input?.validate({ path: 'a.md' })).toEqual({ value: { path: 'a.md' } })
  expect(await input?.validate({ path: '' })).toHaveProperty('issues')
  expect(await input?.validate(null)).toHaveProperty('issues')
})
