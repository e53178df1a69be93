/**
 * Works of the field beside its libraries: counting, ping-pong, fork-join of 8, a ring of 16, big with 8 and chameneos with
 * 8, after the Savina actor benchmarks. Each actor of Holt and of the bare workers has a thread of its own, which is why
 * there are so few; the actors of nact, XState and comedy in memory share one, and Erlang's processes need none.
 */
import type { Bench, Variant } from './definition.ts'
import {
  callsOf,
  comedyThreaded,
  comlink,
  type OpenCallers,
  piscina,
  threadsJs,
  tinypool,
  workerpool,
} from './savina/callers.ts'
import { erlang, hasErlang } from './savina/erlang.ts'
import { RawWorld, withHolt } from './savina/isolated.ts'
import { comedy, nact, TogetherWorld, xstate } from './savina/together.ts'
import { ISOLATED, savinaOf, TOGETHER } from './savina/works.ts'

const together =
  (
    library: () =>
      | ConstructorParameters<typeof TogetherWorld>[0]
      | Promise<ConstructorParameters<typeof TogetherWorld>[0]>,
  ): Variant =>
  async (effort) =>
    savinaOf(new TogetherWorld(await library()), TOGETHER, effort)

const calling =
  (open: OpenCallers, joins = true): Variant =>
  (effort) =>
    callsOf(open, effort, joins)

const NO_ACTORS = 'actors that send to one another, one-way sends, bounds, supervision'

export const savina: Bench = {
  name: 'savina',
  summary: 'works of the Savina actor benchmarks beside actor libraries, worker libraries and Erlang/OTP',
  metrics: [
    { key: 'counting', label: 'counting/s', ratio: true },
    { key: 'pingPong', label: 'ping-pong/s', ratio: true },
    { key: 'forkJoin', label: 'fork-join/s', ratio: true },
    { key: 'ring', label: 'ring hops/s', ratio: true },
    { key: 'big', label: 'big/s', ratio: true },
    { key: 'chameneos', label: 'chameneos/s', ratio: true },
  ],
  base: 'bare workers',
  variants: {
    'bare workers': (effort) => savinaOf(new RawWorld(), ISOLATED, effort),
    Holt: (effort) => withHolt((world) => savinaOf(world, ISOLATED, effort)),
    nact: together(nact),
    XState: together(xstate),
    'comedy, in memory': together(comedy),
    // Its threads take the loader of this process with them, a second each: one is measured, and not eight.
    'comedy, threaded': calling(comedyThreaded, false),
    'threads.js': calling(threadsJs),
    Comlink: calling(comlink),
    Piscina: calling(piscina),
    Tinypool: calling(tinypool),
    workerpool: calling(workerpool),
    ...(hasErlang() ? { 'Erlang/OTP': async (effort: Parameters<Variant>[0]) => erlang(effort) } : {}),
  },
  targets: [],
  packages: ['nact', 'xstate', 'comedy', 'threads', 'comlink', 'piscina', 'tinypool', 'workerpool'],
  leavesOut: {
    'bare workers': 'bounds, accounting, supervision',
    nact: 'isolation (one thread and heap for all), bounds; a slow handler holds up every actor',
    XState: 'isolation, bounds, supervision; messages are handled inside the call that sends them',
    'comedy, in memory': 'isolation, bounds; supervision is to restart',
    'comedy, threaded': 'bounds, messages between children that do not pass their parent',
    'threads.js': NO_ACTORS,
    Comlink: NO_ACTORS,
    Piscina: `${NO_ACTORS}, identity of a thread`,
    Tinypool: `${NO_ACTORS}, identity of a thread`,
    workerpool: `${NO_ACTORS}, identity of a thread`,
    ...(hasErlang() ? { 'Erlang/OTP': 'bounds; processes share one address space, and all the rest is there' } : {}),
  },
}
