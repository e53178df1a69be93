import { afterAll, expect, it } from 'vitest'
import { agentFromObject, fleetFromObject } from '../../src/manifest/load.ts'
import { faultsOf, folder, ROLE, removeFolders } from './folders.ts'

afterAll(removeFolders)

const dir = folder({ 'roles/main.ts': ROLE })

const OF_A_CHILD = 'it belongs to a child in holt.yml, beside agent or supervisor'
const NO_CHILD = 'the top supervisor is no child: nothing above it would read this'
const INTENSITY = 'intensity is meant, how many restarts periodMs allows'
const MS = 'did you mean periodMs? It counts milliseconds'

/** Places a field may be put in by mistake, each as a fleet with one child. */
const PLACES = {
  top: (field: object) => ({ children: [], ...field }),
  supervisor: (field: object) => ({ supervisor: { id: 's', ...field }, children: [] }),
  'agent child': (field: object) => ({ children: [{ agent: '.', ...field }] }),
  'supervisor child': (field: object) => ({ children: [{ supervisor: { id: 's' }, children: [], ...field }] }),
} as const

const inFleet: [keyof typeof PLACES, string, string | undefined][] = [
  ['supervisor', 'autoShutdown', 'did you mean auto_shutdown?'],
  ['supervisor', 'autoshutdown', 'did you mean auto_shutdown?'],
  ['supervisor', 'max_children', 'did you mean maxChildren?'],
  ['supervisor', 'stratgy', 'did you mean strategy?'],
  ['supervisor', 'back_off', 'did you mean backoff?'],
  ['supervisor', 'period', 'did you mean periodMs?'],
  ['supervisor', 'maxRestarts', INTENSITY],
  ['supervisor', 'max_restarts', INTENSITY],
  ['supervisor', 'max_seconds', MS],
  ['supervisor', 'maxSeconds', MS],
  ['supervisor', 'restart', OF_A_CHILD],
  ['supervisor', 'shutdown', OF_A_CHILD],
  ['supervisor', 'significant', OF_A_CHILD],
  ['supervisor', 'spares', 'it belongs at the top of holt.yml'],
  ['supervisor', 'minFreeMb', 'it belongs at the top of holt.yml'],
  ['supervisor', 'heapMb', 'it belongs in limits of agent.yml'],
  ['supervisor', 'zebra', undefined],
  ['top', 'spare', 'did you mean spares?'],
  ['top', 'restart', NO_CHILD],
  ['top', 'shutdown', NO_CHILD],
  ['top', 'significant', NO_CHILD],
  ['top', 'strategy', 'it belongs in supervisor'],
  ['top', 'auto_shutdown', 'it belongs in supervisor'],
  ['top', 'autoShutdown', 'it belongs in supervisor, as auto_shutdown'],
  ['top', 'backoff', 'it belongs in supervisor'],
  ['top', 'maxChildren', 'it belongs in supervisor'],
  ['top', 'child', undefined],
  ['top', 'childern', 'did you mean children?'],
  ['top', 'unkillable', 'it belongs in restart of agent.yml'],
  ['agent child', 'signficant', 'did you mean significant?'],
  ['agent child', 'backoff', 'it belongs in restart of agent.yml'],
  ['agent child', 'unkillable', 'it belongs in restart of agent.yml'],
  ['agent child', 'maxRestarts', 'it belongs in restart of agent.yml'],
  ['agent child', 'stop_timeout_ms', 'it belongs in limits of agent.yml, as stopTimeoutMs'],
  ['agent child', 'strategy', 'it belongs in supervisor'],
  ['agent child', 'spares', 'it belongs at the top of holt.yml'],
  ['supervisor child', 'strategy', 'it belongs in supervisor'],
  ['supervisor child', 'maxChildren', 'it belongs in supervisor'],
  ['supervisor child', 'max_children', 'it belongs in supervisor, as maxChildren'],
  ['supervisor child', 'backoff', 'it belongs in supervisor'],
  ['supervisor child', 'spares', 'it belongs at the top of holt.yml'],
]
it.each(inFleet)('holt.yml, %s: %s', async (place, key, hint) => {
  const faults = await faultsOf(() => fleetFromObject(PLACES[place]({ [key]: 1 }), dir))
  expect(faults.map((fault) => fault.hint)).toEqual([hint])
  expect(faults[0]!.found).toBe(`the unknown field "${key}"`)
})

const inAgent: [object, string | undefined][] = [
  [{ unkillable: 'wait' }, 'it belongs in restart'],
  [{ backoff: 'none' }, 'it belongs in restart'],
  [{ mailbox: { backoff: 'none' } }, 'it belongs in restart'],
  [{ restart: { unkilable: 'wait' } }, 'did you mean unkillable?'],
  [{ restart: { max_restarts: 1 } }, 'did you mean maxRestarts?'],
  [{ restart: { intensity: 1 } }, 'it belongs in supervisor of holt.yml'],
  [{ strategy: 'dynamic' }, 'it belongs in supervisor of holt.yml'],
  [{ autoShutdown: 'never' }, 'it belongs in supervisor of holt.yml, as auto_shutdown'],
  [{ significant: true }, OF_A_CHILD],
  [{ shutdown: 5000 }, OF_A_CHILD],
  [{ limits: { heap_mb: 64 } }, 'did you mean heapMb?'],
  [{ heap_mb: 64 }, 'it belongs in limits, as heapMb'],
  [{ mailbox: { restart: {} } }, undefined],
]
it.each(inAgent)('agent.yml: %j', async (more, hint) => {
  const faults = await faultsOf(() => agentFromObject({ id: 'a', name: 'A', ...more }, dir))
  expect(faults.map((fault) => fault.hint)).toEqual([hint])
})

const words: [object, string, string | undefined][] = [
  [{ restart: 'always' }, 'restart', 'did you mean permanent?'],
  [{ restart: 'on-failure' }, 'restart', 'did you mean transient?'],
  [{ restart: 'OnFailure' }, 'restart', 'did you mean transient?'],
  [{ restart: 'temporarily' }, 'restart', 'did you mean temporary?'],
  [{ restart: 'dynamic' }, 'restart', undefined],
]
it.each(words)('a word from elsewhere: %j', async (standing, field, hint) => {
  const [fault] = await faultsOf(() => fleetFromObject({ children: [{ agent: '.', ...standing }] }, dir))
  expect(fault).toMatchObject({ field: `children[0].${field}` })
  expect(fault!.hint).toBe(hint)
})

it('a word of another field is no hint', async () => {
  const supervisor = { auto_shutdown: 'always' }
  const [fault] = await faultsOf(() => fleetFromObject({ supervisor, children: [] }, dir))
  expect(fault!.hint).toBeUndefined()
})
