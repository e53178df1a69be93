/** `holt up --watch`: what is saved is what runs, and what cannot run is said and dropped. Runs the built command. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { at, role, writeFleet } from '../fleet-on-disk.ts'
import { HOLT, start } from './processes.ts'

vi.setConfig({ testTimeout: 120_000 })

const saying = (text: string): string => role(`events: { boot() { console.log('this is ${text}') } }`)

it('holt up --watch reloads what is saved, and goes on with the old where the new is bad', async () => {
  const dir = await writeFleet({ agents: { a: { role: saying('one') }, b: { role: saying('other') } } })
  const save = (text: string): Promise<void> => writeFile(join(dir, at('a'), 'roles/role.ts'), text)
  const holt = await start('node', [HOLT, 'up', dir, '--watch', '--no-rest'])
  await holt.says('host is up: 2 agents settled')
  await holt.says('this is one')
  await save(saying('two'))
  await holt.says('this is two')
  await save('this is no program')
  await holt.says(/agent 'a' was not reloaded, and version 0\.0\.0 goes on/)
  await save(saying('three'))
  await holt.says('this is three')
  // Its files are as they were.
  expect(holt.stdout().match(/this is other/g)).toHaveLength(1)
  holt.kill('SIGTERM')
  expect(await holt.ended).toEqual({ code: 0, signal: null })
})
