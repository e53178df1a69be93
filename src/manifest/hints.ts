/**
 * What to do about a field or a word that does not exist: it is not here yet, it belongs elsewhere, or another name was
 * meant. Read by check.ts; the names of the blocks come from DEFAULTS, so that they cannot drift.
 */

import { nearest } from '../model/nearest.ts'
import { DEFAULTS } from './defaults.ts'

const OF_A_CHILD = 'it belongs to a child in holt.yml, beside agent or supervisor'
const NO_CHILD = 'the top supervisor is no child: nothing above it would read this'
const INTENSITY = 'intensity is meant, how many restarts periodMs allows'

type Hints = ReadonlyMap<string, string>

/** Wherever the field was found. */
const ANYWHERE: Hints = new Map([
  ['durable', 'it belongs under mailbox in agent.yml'],
  ['channels', 'it belongs at the top of agent.yml'],
  ['schedules', 'it belongs at the top of agent.yml'],
  ['spares', 'it belongs at the top of holt.yml'],
  ['maxAgents', 'it belongs at the top of holt.yml'],
  ['minFreeMb', 'it belongs at the top of holt.yml'],
  ['significant', OF_A_CHILD],
  ['shutdown', OF_A_CHILD],
  ['cwd', "not supported: a thread shares the host's folder, which no agent may change"],
  ['env', 'put variables into a file .env beside agent.yml'],
])

/** In one place alone, known by a field that only this place has. The names of other supervisors' settings are here. */
const HERE: readonly { readonly mark: string; readonly hints: Hints }[] = [
  {
    mark: 'spares',
    hints: new Map([
      ['restart', NO_CHILD],
      ['shutdown', NO_CHILD],
      ['significant', NO_CHILD],
    ]),
  },
  {
    mark: 'strategy',
    hints: new Map([
      ['restart', OF_A_CHILD],
      ['maxRestarts', INTENSITY],
      ['max_restarts', INTENSITY],
      ['maxSeconds', 'did you mean periodMs? It counts milliseconds'],
      ['max_seconds', 'did you mean periodMs? It counts milliseconds'],
    ]),
  },
]

interface Home {
  readonly name: string
  /** The blocks that have it. */
  readonly blocks: readonly Block[]
}

const BLOCKS = ['supervisor', 'mailbox', 'limits', 'restart'] as const
type Block = (typeof BLOCKS)[number]

/** `heap_mb` and `heapMb` are looked for as one. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, '')

/** Field to the blocks it belongs in. */
const HOMES: ReadonlyMap<string, Home> = BLOCKS.flatMap((block) =>
  Object.keys(DEFAULTS[block]).map((name) => ({ name, block })),
)
  .filter(({ name }) => name !== 'id' && name !== 'type')
  .reduce((homes, { name, block }) => {
    const blocks = homes.get(plain(name))?.blocks ?? []
    return homes.set(plain(name), { name, blocks: [...blocks, block] })
  }, new Map<string, Home>())

const FLEET_MARKS = ['agent', 'children', 'strategy']

/** Where the field belongs, with the file where that is another one. */
function homeOf(key: string, known: readonly string[]): string | undefined {
  const home = HOMES.get(plain(key))
  if (home === undefined) return undefined
  const inFleet = FLEET_MARKS.some((mark) => known.includes(mark))
  const block = home.blocks.find((one) => known.includes(one)) ?? home.blocks.at(-1)!
  const ofFleet = block === 'supervisor'
  const file = inFleet === ofFleet ? '' : ` of ${ofFleet ? 'holt.yml' : 'agent.yml'}`
  return `it belongs in ${block}${file}${home.name === key ? '' : `, as ${home.name}`}`
}

/** @param known the fields there are where `key` was found */
export function hintForUnknown(key: string, known: readonly string[]): string | undefined {
  const here = HERE.find(({ mark }) => known.includes(mark))?.hints.get(key)
  const told = here ?? ANYWHERE.get(key)
  if (told !== undefined) return told
  // A field of another block is that one, however near a field of this block comes to it.
  const respelt = known.find((one) => plain(one) === plain(key))
  const home = respelt === undefined ? homeOf(key, known) : undefined
  const meant = respelt ?? nearest(key, known)
  return home ?? (meant === undefined ? undefined : `did you mean ${meant}?`)
}

/** Words that other supervisors have for what a word here means. */
const ALSO_CALLED: ReadonlyMap<string, string> = new Map([
  ['simple_one_for_one', 'dynamic'],
  ['always', 'permanent'],
  ['on-failure', 'transient'],
  ['OnFailure', 'transient'],
])

/** @param known the words there are for what was found as `value` */
export function hintForWord(value: string, known: readonly string[]): string | undefined {
  const also = ALSO_CALLED.get(value)
  const meant = also !== undefined && known.includes(also) ? also : nearest(value, known)
  return meant === undefined ? undefined : `did you mean ${meant}?`
}
