/**
 * What a bench is: variants that do the same work, figures that each of them returns, the base the ratios are taken
 * to, and targets. Types only. The harness runs a variant in a fresh process; a variant throws when not everything
 * it sent was handled.
 */

/** How much work a child does. */
export interface Effort {
  /** Factor on every message count. 1 in a full run. */
  readonly share: number
  /** Timed repetitions in one child, after a warm-up that is not counted; their median is the child's figure. */
  readonly repeats: number
  /** From 0. What takes too long for every round is measured in the first ones only, and has no figure in the others. */
  readonly round: number
  /** Also what takes minutes and gigabytes, where somebody has asked for that. */
  readonly large: boolean
}

/** Figures of one child by metric key. */
export type Figures = Readonly<Record<string, number>>

export type Variant = (effort: Effort) => Promise<Figures>

export interface Metric {
  readonly key: string
  /** Head of the column, with its unit. */
  readonly label: string
  /** Whether the table shows the ratio to the base. */
  readonly ratio: boolean
}

/** `variant` ÷ `against` in `metric`, median of the rounds: at least so much, or at most. One of the two is set. */
export interface Target {
  readonly variant: string
  readonly against: string
  readonly metric: string
  /** Of `against`, where that differs from `metric`. */
  readonly againstMetric?: string
  readonly atLeast?: number
  readonly atMost?: number
}

export interface Bench {
  readonly name: string
  /** One line: what is compared. */
  readonly summary: string
  readonly metrics: readonly Metric[]
  /** The variant that ratios are taken to. */
  readonly base: string
  readonly variants: Readonly<Record<string, Variant>>
  readonly targets: readonly Target[]
  /** Packages whose versions the report names. */
  readonly packages: readonly string[]
  /** Runs with all threads on one processor (Linux, `taskset`), also without `--one-cpu`: for latency. */
  readonly oneCpu?: boolean
  /** What each variant leaves out, by its name: isolation, bounds, supervision, accounting. Printed under the table. */
  readonly leavesOut?: Readonly<Record<string, string>>
}

/** One variant in one round: figures, or why there are none. */
export type Outcome = { readonly figures: Figures } | { readonly failure: string }

/** Outcomes of a variant, one a round. */
export type Outcomes = Readonly<Record<string, readonly Outcome[]>>
