import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import type { Hit, IndexStats } from '../../../examples/librarian/agents/librarian/bm25.ts'
import type { Progress } from '../../../examples/librarian/agents/walker/roles/walk.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import { type AgentId, FleetByHand } from './fleet-by-hand.ts'

const FLEET = fileURLToPath(new URL('../../../examples/librarian/', import.meta.url))
const DOCUMENTS = 90
const BAD = ['20.md', '55.md']
const lines: string[] = []
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'librarian-fleet-'))
  await mkdir(join(root, 'deep'))
  for (let i = 0; i < DOCUMENTS; i++) {
    const name = `${String(i).padStart(2, '0')}.md`
    const content = BAD.includes(name) ? Uint8Array.of(0x47, 0xf6) : `# Document ${i}\n\nworker thread number${i}`
    await writeFile(join(root, i % 2 === 0 ? '.' : 'deep', name), content)
  }
  vi.stubEnv('LIBRARY', root)
  lines.length = 0
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await rm(root, { recursive: true, force: true })
})

/** In the order of holt.yml. */
async function start(): Promise<FleetByHand> {
  const fleet = new FleetByHand()
  const { children } = parse(readFileSync(join(FLEET, 'holt.yml'), 'utf8')) as { children: { agent: string }[] }
  for (const { agent } of children) await fleet.start(agent.slice('agents/'.length) as AgentId)
  return fleet
}

const walks = (fleet: FleetByHand): Progress[] => fleet.named('walked') as Progress[]

test('each bad document kills the reader once, and all the others are in the index', async () => {
  const fleet = await start()
  await fleet.settle()
  expect(fleet.deaths.map(({ agent }) => agent)).toEqual(['reader', 'reader'])
  expect(walks(fleet)).toMatchObject([{ found: DOCUMENTS, read: DOCUMENTS - 2 }])
  expect(walks(fleet)[0]?.failures.map(({ reason }) => reason.split(':')[0])).toEqual([
    'ERR_ENCODING_INVALID_ENCODED_DATA',
    'ERR_ENCODING_INVALID_ENCODED_DATA',
  ])
  expect(await fleet.ask<IndexStats>('librarian', 'stats')).toMatchObject({ documents: DOCUMENTS - 2 })
  const [hit] = await fleet.ask<Hit[]>('librarian', 'find', { q: 'number42' })
  expect(hit).toMatchObject({ title: 'Document 42', excerpt: 'Document 42 worker thread number42' })
  expect(lines.at(-1)).toMatch(/^ready: /)
})

test('at the start, the librarian does not send the walker round twice', async () => {
  const fleet = await start()
  await fleet.settle()
  expect(fleet.named('walk')).toHaveLength(1)
  expect(fleet.named('document.added')).toHaveLength(DOCUMENTS - 2)
})

test('a second walk doubles nothing', async () => {
  const fleet = await start()
  await fleet.settle()
  const before = await fleet.ask('librarian', 'stats')
  await fleet.start('walker')
  await fleet.settle()
  expect(walks(fleet)).toHaveLength(2)
  expect(await fleet.ask('librarian', 'stats')).toEqual(before)
})

test('a librarian that has lost its index gets it back', async () => {
  const fleet = await start()
  await fleet.settle()
  const before = await fleet.ask('librarian', 'stats')
  // A walk is told from an emptiness by the time of each.
  const now = Date.now()
  await eventually(() => Date.now() > now, 'the clock to move on')
  await fleet.start('librarian')
  expect(await fleet.ask('librarian', 'stats')).toMatchObject({ documents: 0 })
  await fleet.settle()
  expect(await fleet.ask('librarian', 'stats')).toEqual(before)
})

test('every file the manifests name is there', () => {
  const top = parse(readFileSync(join(FLEET, 'holt.yml'), 'utf8')) as {
    children: { agent: string }[]
    capabilities: string[]
  }
  const named = top.children.flatMap(({ agent }) => {
    const file = join(FLEET, agent, 'agent.yml')
    const { id, roles } = parse(readFileSync(file, 'utf8')) as { id: string; roles: string[] }
    expect(agent).toBe(`agents/${id}`)
    return roles.map((role) => join(dirname(file), role))
  })
  for (const path of [...named, ...top.capabilities.map((path) => join(FLEET, path))]) {
    expect(readFileSync(path, 'utf8')).toContain('export default')
  }
})

test('of the documents that come along, exactly one is not UTF-8', () => {
  const names = ['backpressure.md', 'holts.md', 'otters.md', 'supervisors.md']
  const strict = (name: string): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(join(FLEET, 'documents', name)))
      return true
    } catch {
      return false
    }
  }
  expect(names.filter((name) => !strict(name))).toEqual(['otters.md'])
})
