/** An agent that does as it is told: the fixture of tests whose subject is the host and not the misbehaviour. */
import type { Host } from '../../src/host/host.ts'
import { role } from '../fleet-on-disk.ts'
import { AT_GATE } from '../gate.ts'

/**
 * `note` prints what it was sent; `hold` waits at a gate whatever happens; `obey` gives up when it is aborted, and says
 * so; `block` holds its thread.
 */
export const HAND = role(
  `events: {
    note(n) { console.log('note ' + n) },
    hold(cells) { return wait(cells) },
    async obey(cells, ctx) {
      try { await wait(cells, ctx.signal) } catch (error: any) { console.log('aborted: ' + error.message); throw error }
    },
    block(cells) { block(cells) },
    throw(text) { throw new Error(text) },
    exit(code) { process.exit(code) },
    end(_, ctx) { ctx.stop() },
  },
  commands: {
    ping: { handle: () => 'pong' },
    who: { handle: (_, ctx) => ({ instance: ctx.instance, epoch: ctx.epoch }) },
    hold: { async handle(cells) { await wait(cells); return 'held' } },
    obey: { async handle(cells, ctx) { await wait(cells, ctx.signal); return 'obeyed' } },
    block: { handle(cells) { block(cells); return 'blocked' } },
    throw: { handle(text) { throw new Error(text) } },
  },
  stop() { console.log('stop hook') }`,
  AT_GATE,
)

/** What an agent prints from now on. */
export function linesOf(host: Host, agent: string): string[] {
  const lines: string[] = []
  host.output$.subscribe((output) => {
    if (output.agent === agent) lines.push(output.text)
  })
  return lines
}

export const notes = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `note ${from + index}`)
