/** State directories for tests, and reading all of one. */
import { join } from 'node:path'
import { systemClock } from '../../src/platform/clock.ts'
import { openStore } from '../../src/store/open.ts'
import { death, letter, message } from './samples.ts'
import { body, tempState, tempStore } from './temp-store.ts'

/** A closed state directory with some hundred rows. */
export async function filledState(): Promise<string> {
  const dir = tempState()
  const store = await tempStore({ dir })
  await store.write((tx) => {
    for (let n = 0; n < 200; n++) {
      tx.mailboxes.append('a', message(`m${n}`))
      tx.memory.set('a', `key-${n}`, body({ n, text: 'x'.repeat(200) }), 5)
      tx.deaths.add(death(n))
      tx.deadLetters.add(letter('a'))
    }
  })
  await store.close()
  return dir
}

export const databaseOf = (dir: string): string => join(dir, 'holt.db')

/** Opens it, reads every table that has text in it, and closes it. */
export async function readAll(dir: string): Promise<'read'> {
  const store = await openStore({ dir, clock: systemClock, onFault: () => {} })
  try {
    store.mailboxes.load('a')
    store.memory.list('a')
    store.deaths.all(1000)
    store.deadLetters.list('a', { limit: 1000 })
    store.facts.after(0, 1000)
    store.agents.list()
    return 'read'
  } finally {
    await store.close()
  }
}
