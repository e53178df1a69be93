/**
 * A process with a store, for tests that need a second one, or one to kill. What it is to do is its first argument; it
 * says what happened in lines of JSON.
 *
 *     hold DIR         opens it, says so, and holds it until its input ends
 *     open DIR [UID]   opens it (as that user, where it is root), says how that went, closes it
 *     migrate DIR N    takes a database through three steps and dies in the N-th
 *     write DIR SEED   writes at random and says what was answered, until it is killed
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { HoltError } from '../../src/model/error.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Connection } from '../../src/store/connection.ts'
import { migrate } from '../../src/store/migrations.ts'
import { openStore } from '../../src/store/open.ts'
import { laterSteps } from './later-steps.ts'
import { writeAtRandom } from './random-writes.ts'

/** Synchronously: what was said before a kill has been said. */
const say = (what: unknown): void => void writeSync(1, `${JSON.stringify(what)}\n`)

const open = (dir: string) => openStore({ dir, clock: systemClock, onFault: ({ code }) => say({ fault: code }) })

async function report(dir: string, uid: number): Promise<void> {
  if (uid > 0 && process.getuid?.() === 0) {
    process.setgid?.(uid)
    process.setuid?.(uid)
  }
  try {
    const store = await open(dir)
    say({ opened: true, afterCrash: store.afterCrash })
    await store.close()
  } catch (error) {
    if (!(error instanceof HoltError)) throw error
    say({ code: error.code, message: error.message })
  }
}

const [what, dir = '', argument = '0'] = process.argv.slice(2)
if (what === 'hold') {
  const store = await open(dir)
  say({ pid: process.pid })
  process.stdin.on('end', () => void store.close()).resume()
} else if (what === 'open') {
  await report(dir, Number(argument))
} else if (what === 'migrate') {
  const connection = new Connection(join(dir, 'holt.db'))
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  migrate(connection, laterSteps(Number(argument)))
} else if (what === 'write') {
  writeAtRandom(await open(dir), Number(argument), say)
}
