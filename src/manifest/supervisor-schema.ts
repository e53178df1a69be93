/**
 * The schema of holt.yml: the tree of supervisors and their children, and of a child added at run time. Two of each
 * tree: in a file an agent is a path, in an object it may be the agent's manifest itself, which the loader then checks
 * as such. What one child may be only beside another field is looked at by survey.ts.
 */
import { z } from 'zod'
import type { Backoff, RestartType, Shutdown } from './agent-manifest.ts'
import { valueAt } from './check.ts'
import { DEFAULTS } from './defaults.ts'
import { choose, id, list, map, milliseconds, oneOf, path, truth, unique, whole } from './fields.ts'
import type { AutoShutdown, Strategy } from './fleet-manifest.ts'
import { backoff, restartType, shutdown } from './schema.ts'

export interface ParsedSupervisor {
  readonly id: string
  readonly strategy: Strategy
  readonly intensity?: number | undefined
  readonly periodMs?: number | undefined
  readonly auto_shutdown: AutoShutdown
  readonly maxChildren?: number | null | undefined
  readonly backoff: Backoff | 'none'
}

/** How a child stands under its supervisor. */
interface ParsedStanding {
  readonly restart?: RestartType | undefined
  readonly shutdown?: Shutdown | undefined
  readonly significant: boolean
}

export interface ParsedAgent extends ParsedStanding {
  /** A path, or the manifest as a map. */
  readonly agent: unknown
}

/** A supervisor and what is below it. */
export interface ParsedBranch {
  readonly supervisor: ParsedSupervisor
  readonly children: readonly ParsedChild[]
}

export interface ParsedNested extends ParsedBranch, ParsedStanding {}

export type ParsedChild = ParsedAgent | ParsedNested

export interface ParsedFleet extends ParsedBranch {
  readonly capabilities: readonly string[]
  readonly spares: number
  readonly maxAgents?: number | undefined
  readonly minFreeMb?: number | undefined
}

export interface ParsedSpawned {
  readonly agent: unknown
  readonly id?: string | undefined
  readonly restart?: RestartType | undefined
  readonly shutdown?: Shutdown | undefined
}

const STRATEGIES = ['one_for_one', 'one_for_all', 'rest_for_one', 'dynamic'] as const satisfies readonly Strategy[]
const AUTO_SHUTDOWNS = ['never', 'any_significant', 'all_significant'] as const satisfies readonly AutoShutdown[]

/** What the strategy says of the fields beside it. Of an unknown one nothing is known, and only the strategy is told. */
const KINDS = ['fixed', 'dynamic', 'unknown'] as const
type Kind = (typeof KINDS)[number]

function kindOf(branch: unknown): Kind {
  const strategy = valueAt(branch, ['supervisor', 'strategy'])
  if (strategy === 'dynamic') return 'dynamic'
  return strategy === undefined || STRATEGIES.some((one) => one === strategy) ? 'fixed' : 'unknown'
}

/** The schema of the value's kind; each is made once. */
function chooseKind<T>(schemaOf: (kind: Kind) => z.ZodType<T>): z.ZodType<T> {
  const [fixed, dynamic, unknown] = KINDS.map(schemaOf) as [z.ZodType<T>, z.ZodType<T>, z.ZodType<T>]
  const schemas: Readonly<Record<Kind, z.ZodType<T>>> = { fixed, dynamic, unknown }
  return choose((value) => schemas[kindOf(value)])
}

const MAX_CHILDREN = 100_000
const MAX_SPARES = 64
const MAX_AGENTS = 100_000
const MAX_FREE_MB = 2 ** 20

const CHILDREN = 'children: { agent } or { supervisor, children }'
const NO_CHILDREN = 'no children: under dynamic, children are added at run time, by ctx.spawn or host.spawn'
const NO_LIMIT = 'nothing: only a dynamic supervisor has a limit of children'

const s = DEFAULTS.supervisor
const supervisor = (kind: Kind) => ({
  strategy: oneOf(STRATEGIES).default(s.strategy),
  intensity: whole(0, 10_000).optional(),
  periodMs: milliseconds().optional(),
  auto_shutdown: oneOf(AUTO_SHUTDOWNS).default(s.auto_shutdown),
  maxChildren: kind === 'fixed' ? z.never({ error: NO_LIMIT }).optional() : whole(1, MAX_CHILDREN).nullish(),
  backoff: backoff.default(s.backoff),
})

const standing = {
  restart: restartType().optional(),
  shutdown: shutdown().optional(),
  significant: truth().default(false),
}

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
const isBranch = (value: unknown): boolean => isMap(value) && ('supervisor' in value || 'children' in value)

const agentOrPath = choose<unknown>((value) => (isMap(value) ? z.unknown() : path()))

function childrenSchema(kind: Kind, child: z.ZodType<ParsedChild>): z.ZodType<readonly ParsedChild[]> {
  if (kind === 'dynamic') return z.array(z.never(), { error: NO_CHILDREN }).max(0, { error: NO_CHILDREN }).default([])
  const children = list(child, CHILDREN)
  return kind === 'fixed' ? children : children.default([])
}

function childSchema(inline: boolean): z.ZodType<ParsedChild> {
  const agent: z.ZodType<ParsedAgent> = map({ agent: inline ? agentOrPath : path(), ...standing })
  const child: z.ZodType<ParsedChild> = choose<ParsedChild>((value) => (isBranch(value) ? branch : agent))
  const branch: z.ZodType<ParsedNested> = chooseKind((kind) =>
    map({ supervisor: map({ id: id(), ...supervisor(kind) }), children: childrenSchema(kind, child), ...standing }),
  )
  return child
}

function fleetSchema(inline: boolean): z.ZodType<ParsedFleet> {
  const child = childSchema(inline)
  return chooseKind((kind) =>
    map({
      supervisor: map({ id: id().default(s.id), ...supervisor(kind) }).prefault({}),
      children: childrenSchema(kind, child),
      capabilities: list(path(), 'paths of capability modules')
        .superRefine(unique((one) => one, 'each module once'))
        .default([]),
      spares: whole(0, MAX_SPARES).default(DEFAULTS.fleet.spares),
      maxAgents: whole(1, MAX_AGENTS).optional(),
      minFreeMb: whole(0, MAX_FREE_MB).optional(),
    }),
  )
}

export const fleetFileSchema = fleetSchema(false)
export const fleetObjectSchema = fleetSchema(true)

export const spawnedSchema: z.ZodType<ParsedSpawned> = map({
  agent: agentOrPath,
  id: id().optional(),
  restart: standing.restart,
  shutdown: standing.shutdown,
})
