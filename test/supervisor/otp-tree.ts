/** The tree of `otp-model.ts`: what is written of each child in a fleet, and where it stands. Nothing here moves. */
import type { AutoShutdown, Strategy } from '../../src/supervisor/strategy.ts'

type RestartType = 'permanent' | 'transient' | 'temporary'

interface Common {
  readonly id: string
  readonly type: RestartType
  readonly significant: boolean
  /** Delays grow from the first to the last of these, doubling; null: always at once. */
  readonly backoff: readonly [minMs: number, maxMs: number] | null
}

export interface AgentNode extends Common {
  readonly kind: 'agent'
  readonly maxRestarts: number | null
}

export interface SupervisorNode extends Common {
  readonly kind: 'supervisor'
  readonly strategy: Exclude<Strategy, 'dynamic'>
  readonly budget: { readonly intensity: number; readonly periodMs: number } | null
  readonly autoShutdown: AutoShutdown
  readonly children: readonly Node[]
}

export type Node = AgentNode | SupervisorNode

export interface Entry {
  due: number
  /** With its supervisor, and not by a timer. */
  start: boolean
}

/** Of children that are started one after the other. */
export class Lane {
  readonly plan = new Map<Child, Entry>()
  /** When its timer was set, as a number that grows. */
  armed = 0
}

export abstract class Child {
  readonly node: Node
  readonly parent: Supervisor | null
  attempt = 0
  delay = 0
  startedAt = 0
  memory: number[] = []

  constructor(node: Node, parent: Supervisor | null) {
    this.node = node
    this.parent = parent
  }

  abstract get live(): boolean
  abstract get wanted(): boolean
  /** Ended for good by a limit, until somebody starts it. */
  spent = false

  get planned(): boolean {
    return this.parent?.laneOf(this).plan.has(this) === true
  }

  forgive(): void {
    this.attempt = 0
    this.delay = 0
    this.memory = []
    this.parent?.unplan(this)
  }
}

export class Agent extends Child {
  declare readonly node: AgentNode
  up = false
  intent: 'running' | 'suspended' | 'stopped' = 'running'
  /** So many boots from now on fail. */
  badBoots = 0
  progressed = false

  get live(): boolean {
    return this.up
  }

  get wanted(): boolean {
    return this.intent === 'running'
  }

  /** Its start is to come: by its supervisor's plan, or with that supervisor itself. */
  get waiting(): boolean {
    return !this.up && this.wanted && (this.planned || this.parent!.comesBack)
  }
}

export class Supervisor extends Child {
  declare readonly node: SupervisorNode
  readonly children: readonly Child[]
  readonly lanes = new Map<Child | null, Lane>()
  up = false
  stopped = false
  /** They are being ended along with a sibling: whatever they die of meanwhile is that. */
  readonly ending = new Set<Child>()
  window: number[] = []
  /** How it ended by its own rules. */
  end: 'restart_intensity' | 'shutdown' | null = null

  constructor(node: SupervisorNode, parent: Supervisor | null) {
    super(node, parent)
    this.children = node.children.map((child) =>
      child.kind === 'agent' ? new Agent(child, this) : new Supervisor(child, this),
    )
  }

  get live(): boolean {
    return this.up
  }

  get wanted(): boolean {
    return !this.stopped
  }

  get grouped(): boolean {
    return this.node.strategy !== 'one_for_one'
  }

  /** It is down, and starts with one above that is planned, or is so itself. */
  get comesBack(): boolean {
    return !this.up && this.wanted && (this.planned || this.parent?.comesBack === true)
  }

  /** It and all that is wanted below it runs or is to. */
  get complete(): boolean {
    return (
      this.up &&
      this.children.every((child) => {
        if (child instanceof Supervisor) return child.complete
        return !child.wanted || child.live || (child as Agent).waiting
      })
    )
  }

  laneOf(child: Child): Lane {
    const key = this.grouped ? null : child
    const lane = this.lanes.get(key) ?? new Lane()
    this.lanes.set(key, lane)
    return lane
  }

  unplan(child: Child): void {
    const lane = this.laneOf(child)
    if (lane.plan.delete(child)) lane.armed = -1
  }

  clear(): void {
    for (const lane of this.lanes.values()) lane.plan.clear()
  }
}

export const isWaiting = (child: Child): boolean => (child instanceof Agent ? child.waiting : child.planned)
