/** Channels: what became of an event that was published on one. */

export interface Published {
  /** Agents that are bound to the channel, but for the publisher. */
  readonly bound: number
  /** Those whose mailbox took it; what the others did not take is counted there, as with any event. */
  readonly accepted: number
}
