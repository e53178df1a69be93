import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listDocuments, nearestNodeModules } from '../../../examples/librarian/agents/walker/files.ts'

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'librarian-files-'))
})

afterEach(() => rm(root, { recursive: true, force: true }))

async function plant(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), path)
  }
}

async function list(...folders: readonly string[]): Promise<{ found: string[]; unreadable: string[] }> {
  const unreadable: string[] = []
  const found = await listDocuments(
    folders.map((folder) => join(root, folder)),
    (folder) => unreadable.push(folder.slice(root.length + 1)),
  )
  return { found: found.map((path) => path.slice(root.length + 1)), unreadable }
}

test('finds Markdown by either ending in any case, at any depth, sorted', async () => {
  await plant('b.md', 'a/z.MD', 'a/node_modules/q/README.markdown', 'a/c.txt', 'a/md', 'x.md.bak', '.hidden/d.md')
  expect(await list('.')).toEqual({
    found: ['.hidden/d.md', 'a/node_modules/q/README.markdown', 'a/z.MD', 'b.md'],
    unreadable: [],
  })
})

test('a folder named like a document is a folder', async () => {
  await plant('folder.md/in.md')
  expect((await list('.')).found).toEqual(['folder.md/in.md'])
})

test('follows no symbolic link, to a file or to a folder, and so no cycle', async () => {
  await plant('real/a.md')
  await symlink(join(root, 'real/a.md'), join(root, 'real/link.md'))
  await symlink(join(root, 'real'), join(root, 'real/again'))
  await symlink(join(root, 'nowhere'), join(root, 'real/broken.md'))
  expect((await list('.')).found).toEqual(['real/a.md'])
})

test('keeps the order of the folders, and lists what is in two of them once', async () => {
  await plant('a/1.md', 'b/2.md', 'b/3.md')
  expect((await list('b', '.')).found).toEqual(['b/2.md', 'b/3.md', 'a/1.md'])
})

test('a folder that cannot be read is told and skipped', async () => {
  await plant('a/1.md')
  expect(await list('none', 'a')).toEqual({ found: ['a/1.md'], unreadable: ['none'] })
})

test('the nearest node_modules is at or above', async () => {
  await plant('node_modules/x.md', 'a/node_modules/y.md', 'a/b/c/z.md', 'd/e.md')
  expect(nearestNodeModules(join(root, 'a/b/c'))).toBe(join(root, 'a/node_modules'))
  expect(nearestNodeModules(join(root, 'a'))).toBe(join(root, 'a/node_modules'))
  expect(nearestNodeModules(join(root, 'd'))).toBe(join(root, 'node_modules'))
})
