/**
 * Where HTTP has each operation, for a client: a copy of the table of operations that loads nothing of a host. A test
 * holds the two against each other.
 */
export interface ClientRoute {
  readonly verb: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly agentPath?: string
  readonly positional: readonly string[]
}

const get = (path: string, positional: readonly string[] = [], agentPath?: string): ClientRoute => ({
  verb: 'GET',
  path,
  positional,
  ...(agentPath === undefined ? {} : { agentPath }),
})
const post = (path: string, ...positional: string[]): ClientRoute => ({ verb: 'POST', path, positional })
const remove = (path: string, ...positional: string[]): ClientRoute => ({ verb: 'DELETE', path, positional })
const command = (verb: string): ClientRoute => post(`/agents/{id}/${verb}`, 'id')

export const ROUTES: Readonly<Record<string, ClientRoute>> = {
  summary: get('/'),
  status: get('/fleet'),
  list: get('/agents'),
  get: get('/agents/{id}', ['id']),
  commands: get('/agents/{id}/commands', ['id']),
  capabilities: get('/capabilities'),
  tree: get('/tree'),
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
  catalog: get('/catalog'),
  install: post('/catalog', 'source'),
  uninstall: remove('/catalog/{name}', 'name'),
  inspect: command('inspect'),
}
