/**
 * The roles of this thread: imported, checked against the contract, and laid out as tables of handlers. Names are kept
 * in Maps, so that a message called `constructor` finds nothing.
 */
import { HoltError } from '../model/error.ts'
import { type HandlerCounts, newHandlerCounts } from '../model/handler-counts.ts'
import type { CommandInfo, ModuleSource, Mount, RoleInfo } from '../model/wire.ts'
import { importModule } from './import-module.ts'
import type { CommandDefinition, Context, Schema } from './role.ts'

type EventHandler = (payload: unknown, ctx: Context) => unknown

/** A role as this file needs it; the published types are in `role.ts`. */
interface LoadedRole {
  readonly name: string
  readonly needs: readonly string[]
  readonly events: Readonly<Record<string, EventHandler>>
  readonly commands: Readonly<Record<string, CommandDefinition<unknown, unknown>>>
  readonly onError: 'crash' | 'continue'
  stop?(ctx: Context): unknown
}

export interface EventEntry {
  /** Where its calls are counted; an event and a command of one name are counted together. */
  readonly at: number
  readonly run: EventHandler
  readonly continues: boolean
}

export interface CommandEntry {
  readonly at: number
  readonly command: CommandDefinition<unknown, unknown>
  readonly continues: boolean
}

export interface Roles {
  readonly events: ReadonlyMap<string, EventEntry>
  readonly commands: ReadonlyMap<string, CommandEntry>
  /** Names of the handlers, in the order of their counts. */
  readonly handlers: readonly string[]
  readonly counts: HandlerCounts
  readonly infos: readonly RoleInfo[]
  /** In the order in which the roles were loaded. */
  readonly stops: readonly ((ctx: Context) => unknown)[]
}

export async function loadRoles(sources: readonly ModuleSource[]): Promise<Roles> {
  const roles: { readonly role: LoadedRole; readonly file: string }[] = []
  for (const source of sources)
    roles.push({ role: checkRole((await importModule(source)).default, source.file), file: source.file })
  const events = new Map<string, EventEntry>()
  const commands = new Map<string, CommandEntry>()
  const handlers = [
    ...new Set(roles.flatMap(({ role }) => [...Object.keys(role.events), ...Object.keys(role.commands)])),
  ]
  const places = new Map(handlers.map((name, at) => [name, at]))
  for (const { role, file } of roles) {
    const continues = role.onError === 'continue'
    for (const [name, run] of Object.entries(role.events))
      events.set(name, withEarlier(events.get(name), { at: places.get(name)!, run, continues }))
    for (const [name, command] of Object.entries(role.commands)) {
      if (commands.has(name))
        throw new HoltError('BootFailed', `${file}: command '${name}' is in another role of this agent too; rename one`)
      commands.set(name, { at: places.get(name)!, command, continues })
    }
  }
  return {
    events,
    commands,
    handlers,
    counts: newHandlerCounts(handlers.length),
    infos: roles.map(({ role }) => describe(role)),
    stops: roles.flatMap(({ role }) => (role.stop === undefined ? [] : [(ctx: Context) => role.stop?.(ctx)])),
  }
}

/** @throws HoltError `GateRefused` listing every need that is not mounted */
export function checkNeeds(roles: Roles, mounts: readonly Mount[]): void {
  const mounted = new Set(mounts.map(({ id }) => id))
  const missing = roles.infos.flatMap(({ name, needs }) =>
    needs.filter((need) => !mounted.has(need)).map((need) => `role '${name}' needs capability '${need}'`),
  )
  if (missing.length === 0) return
  throw new HoltError('GateRefused', `${missing.join('; ')}: grant it in agent.yml under capabilities`, { missing })
}

/** An event that several roles handle goes to each in turn, in the order of the roles. */
function withEarlier(earlier: EventEntry | undefined, entry: EventEntry): EventEntry {
  if (earlier === undefined) return entry
  const { at, run, continues } = entry
  const both = async (payload: unknown, ctx: Context): Promise<void> => {
    await earlier.run(payload, ctx)
    await run(payload, ctx)
  }
  return { at, run: both, continues: continues && earlier.continues }
}

function checkRole(value: unknown, file: string): LoadedRole {
  const wrong = (field: string, expected: string, found: unknown): never => {
    throw new HoltError('BootFailed', `${file}: ${field}: expected ${expected}, found ${kindOf(found)}`, {
      file,
      field,
    })
  }
  if (typeof value !== 'object' || value === null) return wrong('default export', 'a role made by defineRole', value)
  const { name, events = {}, commands = {}, needs = [], onError = 'crash', stop } = value as Record<string, unknown>
  if (typeof name !== 'string' || name === '') return wrong('name', 'a text', name)
  if (!isTable(events)) return wrong('events', 'a table of handlers', events)
  for (const [event, run] of Object.entries(events))
    if (typeof run !== 'function') wrong(`events.${event}`, 'a function', run)
  if (!isTable(commands)) return wrong('commands', 'a table of commands', commands)
  for (const [command, entry] of Object.entries(commands)) {
    if (!isTable(entry) || typeof entry['handle'] !== 'function')
      wrong(`commands.${command}.handle`, 'a function', entry)
  }
  if (!Array.isArray(needs) || needs.some((need) => typeof need !== 'string'))
    return wrong('needs', 'a list of capability ids', needs)
  if (onError !== 'crash' && onError !== 'continue') return wrong('onError', "'crash' or 'continue'", onError)
  if (stop !== undefined && typeof stop !== 'function') return wrong('stop', 'a function', stop)
  return { ...value, name, events, commands, needs, onError } as unknown as LoadedRole
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value)

function describe(role: LoadedRole): RoleInfo {
  const commands = Object.entries(role.commands).map(([name, command]): CommandInfo => {
    const schema = inputSchema(command.input)
    return {
      name,
      role: role.name,
      summary: command.summary ?? '',
      exclusive: command.exclusive === true,
      ...(schema === undefined ? {} : { inputSchema: schema }),
    }
  })
  return { name: role.name, events: Object.keys(role.events), commands, needs: role.needs }
}

/** JSON Schema of an input where its schema offers one by Standard JSON Schema, as plain data. */
function inputSchema(schema: Schema<unknown> | undefined): unknown {
  const offered = (schema?.['~standard'] as { jsonSchema?: { input?: (o: { target: string }) => unknown } } | undefined)
    ?.jsonSchema
  try {
    const json = offered?.input?.({ target: 'draft-2020-12' })
    return json === undefined ? undefined : JSON.parse(JSON.stringify(json))
  } catch {
    // A schema that has no JSON form (a transform, a function) is shown without one.
    return undefined
  }
}
