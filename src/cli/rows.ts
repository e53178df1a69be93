/**
 * The commands of the CLI, one row each: how it is written, what it is for, an example, and where its code is. Nothing
 * of that code is loaded before it is asked for. A test holds the rows against the table of operations.
 */
import type { Command } from '../model/intent.ts'
import type { CommandRow, OptionRow } from './command-row.ts'

export const JSON_OPTION: OptionRow = { flags: '--json', text: 'print JSON, as it goes over the socket' }
export const SOCKET_OPTION: OptionRow = {
  flags: '--socket PATH',
  text: 'socket of the host (default: $HOLT_UDS_PATH, else that of the fleet in the present folder)',
}
export const HOST_OPTIONS: readonly OptionRow[] = [
  { flags: '--host URL', text: 'a host over HTTP, in place of a socket (default: $HOLT_URL)' },
  { flags: '--token T', text: 'its token (default: $HOLT_TOKEN); other users of this machine can see it in `ps`' },
  { flags: '--token-file FILE', text: 'a file with the token, which nobody sees in `ps`' },
]
export const TIMEOUT_OPTION: OptionRow = { flags: '--timeout-ms N', text: 'how long to wait for an answer', ms: true }

const REASON: OptionRow = { flags: '--reason TEXT', text: 'why, as recorded' }
const IF_GENERATION: OptionRow = {
  flags: '--if-generation N',
  text: 'only where this is the generation of its intent, as `holt get` shows it',
  count: true,
}
const DRY_RUN: OptionRow = { flags: '--dry-run', text: 'say what would change, and change nothing' }
const NOW: OptionRow = { flags: '--now', text: 'without grace: what is in flight is aborted' }

/** Commands wait for what an agent is at, for as long as its manifest allows. */
const PATIENT_MS = 120_000

const HOST: readonly CommandRow[] = [
  {
    name: 'up',
    group: 'The host',
    usage: '[DIR]',
    words: 'folder',
    summary: 'host the fleet in DIR (default: the present folder) until Ctrl-C',
    example: 'up examples/librarian',
    options: [
      {
        flags: '--state DIR',
        text: "folder of the state (default: $HOLT_STATE_DIR, else one of the user's own for each fleet)",
      },
      { flags: '--watch', text: 'for development: reload the agents whose files are saved' },
      { flags: '--log-level LEVEL', text: 'debug, info, warn, error or silent (default: info)' },
      {
        flags: '--port N',
        text: 'port of REST on 127.0.0.1 (default: 8000, or none where that is taken)',
        count: true,
      },
      { flags: '--listen HOST:PORT', text: 'another address for REST, as 0.0.0.0:8000' },
      { flags: '--no-rest', text: 'the socket alone' },
      { flags: '--allow-host NAMES', text: 'names under which REST may be called, as holt.example.org' },
      { flags: '--cors ORIGINS', text: 'origins whose pages may call REST, as https://example.org' },
      { flags: '--rate-limit N', text: 'requests of one token a second (default: 1000)', count: true },
      { flags: '--socket-group GROUP', text: 'a second socket, over which members of the group may look' },
    ],
    remote: false,
    load: async () => (await import('./up.ts')).up,
  },
  {
    name: 'down',
    group: 'The host',
    usage: '',
    summary: 'end the host, and wait until it has gone',
    example: 'down',
    options: [
      { flags: '--timeout-ms N', text: 'one deadline over the whole of it (default: 10000)', ms: true },
      { flags: '--abort', text: 'end what runs at once; what waits is kept all the same' },
      DRY_RUN,
    ],
    timeoutMs: PATIENT_MS,
    hostKeepsTime: true,
    load: async () => (await import('./down.ts')).down,
  },
  {
    name: 'drain',
    group: 'The host',
    usage: '',
    summary: 'take nothing more from outside, let agents work off what waits, and end the host',
    example: 'drain --deadline 30s',
    options: [{ flags: '--deadline TIME', text: 'for working off: 30s, 5m (default: 30s)' }, DRY_RUN],
    timeoutMs: PATIENT_MS,
    hostKeepsTime: true,
    load: async () => (await import('./drain.ts')).drain,
  },
  {
    name: 'validate',
    group: 'The host',
    usage: '[DIR]',
    words: 'folder',
    summary: 'check the manifests of a fleet and start nothing',
    example: 'validate examples/librarian',
    remote: false,
    load: async () => (await import('./validate.ts')).validate,
  },
]

const LOOKING: readonly CommandRow[] = [
  {
    name: 'status',
    group: 'Looking',
    usage: '',
    summary: 'the host and how every agent stands',
    example: 'status',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'list',
    group: 'Looking',
    usage: '',
    summary: 'the agents, by name and version',
    example: 'list --json',
    load: async () => (await import('./list.ts')).list,
  },
  {
    name: 'get',
    group: 'Looking',
    usage: 'ID',
    summary: 'one agent in detail',
    example: 'get librarian',
    load: async () => (await import('./get.ts')).get,
  },
  {
    name: 'tree',
    group: 'Looking',
    usage: '',
    summary: 'the supervisors and what they keep alive',
    example: 'tree',
    load: async () => (await import('./tree.ts')).tree,
  },
  {
    name: 'why',
    group: 'Looking',
    usage: 'ID',
    summary: 'why an agent is where it is, and what would change it',
    example: 'why reader',
    load: async () => (await import('./why.ts')).why,
  },
  {
    name: 'deaths',
    group: 'Looking',
    usage: '[ID]',
    words: 'agent',
    summary: 'how instances ended, and what was decided',
    example: 'deaths reader',
    load: async () => (await import('./deaths.ts')).deaths,
  },
  {
    name: 'schedules',
    group: 'Looking',
    usage: 'ID',
    summary: 'what the clock sends to an agent, and when next',
    example: 'schedules librarian',
    load: async () => (await import('./schedules.ts')).schedules,
  },
  {
    name: 'watch',
    group: 'Looking',
    usage: '[ID]',
    words: 'agent',
    summary: 'everything that happens from now on, until Ctrl-C',
    example: 'watch librarian',
    options: [
      { flags: '--since SEQ', text: 'also what was told before, after the fact of this number' },
      { flags: '--kinds KINDS', text: 'only facts of these kinds: agent.died,agent.restart_scheduled' },
    ],
    load: async () => (await import('./watch.ts')).watch,
  },
  {
    name: 'top',
    group: 'Looking',
    usage: '',
    summary: 'the fleet as a live table, with keys to pause, resume and restart',
    example: 'top',
    load: async () => (await import('./top.ts')).top,
  },
  {
    name: 'logs',
    group: 'Looking',
    usage: '[ID]',
    words: 'agent',
    summary: 'what agents have printed and logged; with -f also what comes, until Ctrl-C',
    example: 'logs librarian -f --since 10m',
    options: [
      { flags: '-f, --follow', text: 'go on with each new line' },
      { flags: '--since T', text: 'from then on: 10m, 1h30m, 2026-07-30T12:00:00Z or ms since the epoch' },
      { flags: '--grep TEXT', text: 'only lines with this text in them' },
      { flags: '--tail N', text: 'the newest so many (default: 1000, with --since all that is kept)', count: true },
    ],
    load: async () => (await import('./logs.ts')).logs,
  },
  {
    name: 'attach',
    group: 'Looking',
    usage: 'ID',
    summary: 'how an agent stands, then what happens to it and what it prints, until Ctrl-C',
    example: 'attach librarian',
    load: async () => (await import('./attach.ts')).attach,
  },
  {
    name: 'inspect',
    group: 'Looking',
    usage: 'ID',
    summary: 'write a CPU profile or a heap snapshot of an agent to a file',
    example: 'inspect librarian --cpu 5000',
    options: [
      { flags: '--cpu MS', text: 'a CPU profile over so long (default: 5000)', ms: true },
      { flags: '--heap', text: 'a heap snapshot in place of it; the agent stands still meanwhile' },
      { flags: '--out FILE', text: "a new file of the host's machine (default: one in its state directory)" },
    ],
    timeoutMs: PATIENT_MS,
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    name: 'capabilities',
    group: 'Looking',
    usage: '',
    summary: 'what the host lends, and to whom',
    example: 'capabilities',
    load: async () => (await import('./capabilities.ts')).capabilities,
  },
  {
    name: 'classify',
    group: 'Looking',
    usage: 'RUNTIME FILE|-',
    summary: 'the status of instances of ecs, kubernetes or compose, from their own JSON',
    example: 'classify kubernetes pods.json',
    options: [
      { flags: '--previous FILE', text: 'what an earlier run printed with --json: which were past their start' },
      { flags: '--cordoned NAMES', text: 'instances that are given no new work: web-0,web-1' },
      {
        flags: '--stopping NAMES',
        text: 'instances that were told to stop, where the runtime does not say so (compose)',
      },
    ],
    remote: false,
    load: async () => (await import('./classify.ts')).classify,
  },
]

const control = (name: Command, summary: string, example: string, options: readonly OptionRow[] = []): CommandRow => ({
  name,
  group: 'Agents',
  usage: 'ID',
  summary,
  example,
  options: [...options, REASON, IF_GENERATION, DRY_RUN],
  timeoutMs: PATIENT_MS,
  load: async () => (await import('./control.ts')).control(name),
})

const AGENTS: readonly CommandRow[] = [
  control('start', 'start an agent, or all that a supervisor keeps', 'start librarian'),
  control(
    'stop',
    'end an agent once what it is at has ended, or all that a supervisor keeps',
    'stop librarian --reason "moving house"',
    [NOW],
  ),
  control('restart', 'end and start an agent, or all that a supervisor keeps; mailboxes are kept', 'restart librarian'),
  control('pause', 'let an agent finish what it is at and begin nothing more', 'pause librarian', [NOW]),
  control('resume', 'let a paused agent go on', 'resume librarian'),
  control('activate', 'start an agent that was suspended or stopped', 'activate librarian'),
  control('suspend', 'abort what an agent is at and free its thread; its mailbox is kept', 'suspend librarian'),
  control('kill', 'end the thread of an agent now; its supervisor decides', 'kill librarian'),
]

const RELOAD: CommandRow = {
  name: 'reload',
  group: 'Agents',
  usage: '[ID]',
  summary: 'replace the version of an agent by what its files say now, and lose no message',
  example: 'reload librarian --dry-run',
  options: [
    { flags: '--all', text: 'every agent that runs, one at a time; stops at the first that fails' },
    REASON,
    IF_GENERATION,
    DRY_RUN,
  ],
  timeoutMs: PATIENT_MS,
  load: async () => (await import('./reload.ts')).reload,
}

const CATALOG: CommandRow = {
  name: 'catalog',
  group: 'Agents',
  usage: '[VERB] [SOURCE]',
  words: 'list, install or uninstall, and a folder, a tarball or a name',
  summary: 'agents installed while the host runs',
  example: 'catalog install ./greeter-1.2.0.tgz',
  options: [DRY_RUN],
  timeoutMs: PATIENT_MS,
  load: async () => (await import('./catalog.ts')).catalog,
}

const TOKEN: CommandRow = {
  name: 'token',
  group: 'The host',
  usage: 'VERB [NAME]',
  words: 'create, list or revoke, and a name or an id',
  summary: 'who may call over the network: create NAME, list, revoke ID',
  example: 'token create ci --access control --expires-in 30d',
  options: [
    { flags: '--access ACCESS', text: 'read, control or admin (default: read)' },
    { flags: '--expires-in TIME', text: 'how long it holds: 12h, 30d (default: for ever)' },
  ],
  load: async () => (await import('./token.ts')).token,
}

const MESSAGES: readonly CommandRow[] = [
  {
    name: 'emit',
    group: 'Messages',
    usage: 'ID EVENT [JSON]',
    summary: 'send an event and say what became of it',
    example: `emit librarian document.added '{"path":"a.md","text":"…"}'`,
    options: [{ flags: '--ttl-ms N', text: 'past this age it is not begun any more', ms: true }, DRY_RUN],
    timeoutMs: PATIENT_MS,
    load: async () => (await import('./emit.ts')).emit,
  },
  {
    name: 'ask',
    group: 'Messages',
    usage: 'ID COMMAND [JSON]',
    summary: 'ask an agent and print its reply',
    example: `ask librarian find '{"q":"backpressure"}'`,
    options: [{ flags: '--timeout-ms N', text: 'how long the reply may take (default: 5000)', ms: true }],
    hostKeepsTime: true,
    load: async () => (await import('./ask.ts')).ask,
  },
  {
    name: 'commands',
    group: 'Messages',
    usage: 'ID',
    summary: 'what an agent answers to',
    example: 'commands librarian',
    load: async () => (await import('./commands.ts')).commands,
  },
  {
    name: 'dead-letters',
    group: 'Messages',
    usage: '[ID] [LETTER]',
    words: 'agent, or replay or discard and the number of a letter',
    summary: 'messages that were not handled; replay or discard one',
    example: 'dead-letters replay 12',
    options: [
      { flags: '--before N', text: 'only letters with a lower number', count: true },
      { flags: '--limit N', text: 'at most so many, the newest (default: 100)', count: true },
      DRY_RUN,
    ],
    load: async () => (await import('./dead-letters.ts')).deadLetters,
  },
  {
    name: 'mailbox',
    group: 'Messages',
    usage: 'ID [purge]',
    summary: 'what waits for an agent and what it is at; purge throws away what waits',
    example: 'mailbox librarian',
    options: [DRY_RUN],
    load: async () => (await import('./mailbox.ts')).mailbox,
  },
]

export const ROWS: readonly CommandRow[] = [...HOST, ...LOOKING, ...AGENTS, RELOAD, CATALOG, TOKEN, ...MESSAGES]

/** `holt agent …`: the same commands under the name of what they are about. */
export const AGENT_ROWS: readonly CommandRow[] = [
  { ...ROWS.find(({ name }) => name === 'get')!, name: 'status' },
  ...AGENTS,
]
