/**
 * Where HTTP has each operation, and which words each takes, for a client: a copy of the table of operations that loads
 * nothing of a host. A test holds the two against each other.
 */
import type { HostCalls, HostStreams } from './calls-of-host.ts'

export interface ClientRoute<P extends readonly string[] = readonly string[]> {
  readonly verb: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly agentPath?: string
  /** Keys of the input that words fill, in order. */
  readonly positional: P
}

/** What goes over the socket alone: who may make a token by HTTP could give itself any access. */
type SocketOnly = 'tokens' | 'tokenCreate' | 'tokenRevoke'
type OverHttp = Exclude<keyof HostCalls | keyof HostStreams, SocketOnly>

const get = <const P extends readonly string[]>(path: string, positional: P, agentPath?: string): ClientRoute<P> => ({
  verb: 'GET',
  path,
  positional,
  ...(agentPath === undefined ? {} : { agentPath }),
})
const post = <const P extends readonly string[]>(path: string, ...positional: P): ClientRoute<P> => ({
  verb: 'POST',
  path,
  positional,
})
const remove = <const P extends readonly string[]>(path: string, ...positional: P): ClientRoute<P> => ({
  verb: 'DELETE',
  path,
  positional,
})
const command = (verb: string) => post(`/agents/{id}/${verb}`, 'id')

export const ROUTES = {
  summary: get('/', []),
  status: get('/fleet', []),
  list: get('/agents', []),
  get: get('/agents/{id}', ['id']),
  commands: get('/agents/{id}/commands', ['id']),
  capabilities: get('/capabilities', []),
  tree: get('/tree', []),
  deaths: get('/deaths', ['id'], '/agents/{id}/deaths'),
  why: get('/agents/{id}/why', ['id']),
  mailbox: get('/agents/{id}/mailbox', ['id']),
  schedules: get('/agents/{id}/schedules', ['id']),
  deadLetters: get('/dead-letters', ['id'], '/agents/{id}/dead-letters'),
  watch: get('/events', ['id'], '/agents/{id}/events'),
  logs: get('/logs', ['id'], '/agents/{id}/logs'),
  start: command('start'),
  stop: command('stop'),
  restart: command('restart'),
  pause: command('pause'),
  resume: command('resume'),
  activate: command('activate'),
  suspend: command('suspend'),
  kill: command('kill'),
  reload: command('reload'),
  reloadAll: post('/reload'),
  emit: post('/agents/{id}/events', 'id', 'event', 'payload'),
  ask: post('/agents/{id}/ask', 'id', 'command', 'payload'),
  purge: post('/agents/{id}/mailbox/purge', 'id'),
  replay: post('/dead-letters/{letter}/replay', 'letter'),
  discard: post('/dead-letters/{letter}/discard', 'letter'),
  shutdown: post('/shutdown'),
  drain: post('/drain'),
  catalog: get('/catalog', []),
  install: post('/catalog', 'source'),
  uninstall: remove('/catalog/{name}', 'name'),
  inspect: command('inspect'),
} as const satisfies Readonly<Record<OverHttp, ClientRoute>>

/** The words of what goes over the socket alone. */
export const SOCKET_ONLY = { tokens: [], tokenCreate: ['name'], tokenRevoke: ['id'] } as const satisfies Readonly<
  Record<SocketOnly, readonly string[]>
>
