/**
 * The schema of holt.yml: the tree of supervisors and their children. Two of it: in a file an agent is a path, in an
 * object it may be the agent's manifest itself, which the loader then checks as such.
 */
import { z } from 'zod'
import type { RestartType, Shutdown } from './agent-manifest.ts'
import { DEFAULTS } from './defaults.ts'
import { choose, id, list, map, milliseconds, path, unique, whole } from './fields.ts'
import type { Strategy } from './fleet-manifest.ts'
import { restartType, shutdown } from './schema.ts'

export interface ParsedSupervisor {
  readonly id: string
  readonly strategy: Strategy
  readonly intensity?: number | undefined
  readonly periodMs?: number | undefined
}

export interface ParsedAgent {
  /** A path, or the manifest as a map. */
  readonly agent: unknown
  readonly restart?: RestartType | undefined
  readonly shutdown?: Shutdown | undefined
}

export interface ParsedBranch {
  readonly supervisor: ParsedSupervisor
  readonly children: readonly ParsedChild[]
}

export type ParsedChild = ParsedAgent | ParsedBranch

export interface ParsedFleet extends ParsedBranch {
  readonly capabilities: readonly string[]
}

const CHILDREN = 'children: { agent } or { supervisor, children }'

const s = DEFAULTS.supervisor
const supervisor = {
  strategy: z.literal(s.strategy, { error: 'one_for_one (this version has no other strategy)' }).default(s.strategy),
  intensity: whole(0, 10_000).optional(),
  periodMs: milliseconds().optional(),
}

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
const isBranch = (value: unknown): boolean => isMap(value) && ('supervisor' in value || 'children' in value)

function childSchema(inline: boolean): z.ZodType<ParsedChild> {
  const agent: z.ZodType<ParsedAgent> = map({
    agent: inline ? choose<unknown>((value) => (isMap(value) ? z.unknown() : path())) : path(),
    restart: restartType().optional(),
    shutdown: shutdown().optional(),
  })
  const child: z.ZodType<ParsedChild> = choose<ParsedChild>((value) => (isBranch(value) ? branch : agent))
  const branch: z.ZodType<ParsedBranch> = map({
    supervisor: map({ id: id(), ...supervisor }),
    children: list(child, CHILDREN),
  })
  return child
}

const fleetSchema = (inline: boolean): z.ZodType<ParsedFleet> =>
  map({
    supervisor: map({ id: id().default(s.id), ...supervisor }).prefault({}),
    children: list(childSchema(inline), CHILDREN),
    capabilities: list(path(), 'paths of capability modules')
      .superRefine(unique((one) => one, 'each module once'))
      .default([]),
  })

export const fleetFileSchema = fleetSchema(false)
export const fleetObjectSchema = fleetSchema(true)
