/**
 * The time of one ask at a time, all threads on one processor: there the system's choice of where they run cannot be
 * taken for a property of what is measured.
 */
import { ask } from './ask.ts'
import type { Bench } from './definition.ts'

export const latency: Bench = {
  ...ask,
  name: 'latency',
  summary: 'time of one ask at a time, all threads on one processor',
  oneCpu: true,
  targets: [{ variant: 'Holt ask', against: 'postMessage and an id map', metric: 'p50', atMost: 1.3 }],
}
