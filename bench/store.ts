/**
 * What durability costs: events that are on disk before they are answered, beside plain inserts into SQLite with the same
 * settings (WAL, synchronous=FULL), one commit each and 200 a commit; and commands of the life cycle, each committed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'libsql'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchAgent, importBuilt } from './holt.ts'
import { expectHandled, lanes, perSecond } from './measure.ts'

const ONE_BY_ONE = 800
const MANY = 20_000
const GROUP = 200
const COMMANDS = 600
const PAYLOAD = { n: 1, text: 'hello' }

/** Runs with a directory of its own, on the disk that temporary files are on. */
async function withFolder(work: (dir: string) => Promise<Figures>): Promise<Figures> {
  const dir = mkdtempSync(join(tmpdir(), 'holt-bench-'))
  try {
    return await work(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const plain =
  (count: number, group: number): Variant =>
  (effort) =>
    withFolder(async (dir) => {
      const db = new Database(join(dir, 'plain.db'))
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = FULL')
      db.exec('CREATE TABLE messages (number INTEGER PRIMARY KEY, agent TEXT, name TEXT, body TEXT, at INTEGER) STRICT')
      const insert = db.prepare('INSERT INTO messages (agent, name, body, at) VALUES (?, ?, ?, ?)')
      const body = JSON.stringify(PAYLOAD)
      const rate = await perSecond(count, effort, (total) => {
        for (let n = 0; n < total; n++) {
          if (group > 1 && n % group === 0) db.exec('BEGIN IMMEDIATE')
          insert.run('durable', 'add', body, n)
          if (group > 1 && (n % group === group - 1 || n === total - 1)) db.exec('COMMIT')
        }
      })
      db.close()
      return { perSecond: rate }
    })

interface DurableAgent extends BenchAgent {
  pause(): Promise<unknown>
  resume(): Promise<unknown>
}

const holt =
  (run: (agent: DurableAgent, effort: Effort) => Promise<number>): Variant =>
  (effort) =>
    withFolder(async (stateDir) => {
      const { createHost } = await importBuilt<{
        createHost(options: unknown): Promise<{ agent(id: string): DurableAgent; shutdown(): Promise<unknown> }>
      }>('index.js')
      const fleet = fileURLToPath(new URL('./fleets/durable', import.meta.url))
      const host = await createHost({ fleet, stateDir, log: 'silent' })
      try {
        return { perSecond: await run(host.agent('durable'), effort) }
      } finally {
        await host.shutdown()
      }
    })

/** Counts what has been handled, over all repetitions. */
async function counted(agent: DurableAgent, count: number, effort: Effort, send: (total: number) => Promise<void>) {
  let sent = 0
  return perSecond(count, effort, async (total) => {
    await send(total)
    sent += total
    expectHandled(await agent.ask('total'), sent)
  })
}

const tell = holt((agent, effort) =>
  counted(agent, MANY, effort, async (total) => {
    for (let n = 0; n < total; n++) {
      if (!agent.hasRoom) await agent.room()
      // The last one's answer comes once it and all before it are on disk.
      if (n === total - 1) await agent.emit('add', PAYLOAD)
      else if (!agent.tell('add', PAYLOAD)) throw new Error('a tell was refused though there was room')
    }
  }),
)

const emits = holt((agent, effort) =>
  counted(agent, MANY, effort, (total) =>
    lanes(total, async () => {
      const { fate } = await agent.emit('add', PAYLOAD)
      if (fate !== 'handled') throw new Error(`expected handled, found ${fate}`)
    }),
  ),
)

const oneByOne = holt((agent, effort) =>
  counted(agent, ONE_BY_ONE, effort, async (total) => {
    for (let n = 0; n < total; n++) await agent.emit('add', PAYLOAD)
  }),
)

const commands = holt((agent, effort) =>
  perSecond(COMMANDS, effort, async (total) => {
    for (let n = 0; n < total; n += 2) {
      await agent.pause()
      await agent.resume()
    }
  }),
)

export const store: Bench = {
  name: 'store',
  summary: 'durable events and committed commands beside plain inserts',
  metrics: [{ key: 'perSecond', label: 'a second', ratio: true }],
  base: 'plain SQLite, one commit each',
  variants: {
    'plain SQLite, one commit each': plain(ONE_BY_ONE, 1),
    'plain SQLite, 200 a commit': plain(MANY, GROUP),
    'Holt durable tell': tell,
    'Holt durable emit, 256 in flight': emits,
    'Holt durable emit, one at a time': oneByOne,
    'Holt pause and resume': commands,
  },
  targets: [
    { variant: 'Holt durable tell', against: 'Holt durable emit, one at a time', metric: 'perSecond', atLeast: 20 },
  ],
  packages: ['libsql'],
}
