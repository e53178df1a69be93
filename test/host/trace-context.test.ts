/** A trace goes along: from a program through one agent after the other, whatever way each of them sends. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

/** Notes which trace it is told of, and sends on along the way it is given. */
const LINK = role(
  `events: {
    pass(way, ctx) { return pass(way, ctx) },
  },
  commands: {
    seen: { handle: () => seen },
    passed: { handle: (way, ctx) => pass(way, ctx) },
    other: { handle: (traceparent, ctx) => ctx.ask('c', 'own', undefined, { traceparent }) },
    own: { handle: (_, ctx) => ctx.traceparent ?? 'none' },
  }`,
  `const seen: string[] = []
  async function pass([way, to, ...rest]: string[], ctx: any) {
    seen.push(ctx.traceparent ?? 'none')
    if (way === 'tell') ctx.tell(to, 'pass', rest)
    if (way === 'emit') await ctx.emit(to, 'pass', rest)
    if (way === 'ask') await ctx.ask(to, 'passed', rest)
    if (way === 'after') ctx.after(0, 'pass', [to, ...rest])
    if (way === 'publish') await ctx.publish(to, 'pass', rest)
  }`,
)

const fleet = (): Promise<Host> =>
  hostFleet({
    agents: Object.fromEntries(
      ['a', 'b', 'c'].map((id) => [id, { role: LINK, manifest: { ...AT_ONCE, channels: [`to-${id}`] } }]),
    ),
    supervisor: NO_BUDGET,
  })

const seenBy = (host: Host, ids: readonly string[]) =>
  Promise.all(ids.map((id) => host.agent(id).ask('seen') as Promise<string[]>))

describe('a traceparent', () => {
  it.each([
    ['tell', ['tell', 'b', 'tell', 'c']],
    ['emit', ['emit', 'b', 'emit', 'c']],
    ['ask', ['ask', 'b', 'ask', 'c']],
    ['a channel', ['publish', 'to-b', 'publish', 'to-c']],
    ['a timer', ['after', 'tell', 'b', 'after', 'tell', 'c']],
  ])('goes from a by b to c by %s, over three threads', async (_, way) => {
    const host = await fleet()
    expect(host.agent('a').tell('pass', way, { traceparent: PARENT })).toBe(true)
    await eventually(async () => (await seenBy(host, ['c']))[0]!.length > 0, 'c hears of it')
    expect(new Set((await seenBy(host, ['a', 'b', 'c'])).flat())).toEqual(new Set([PARENT]))
  })

  it('is none where none was given, where it is wrong, and for what is sent meanwhile beside it', async () => {
    const host = await fleet()
    const a = host.agent('a')
    await a.emit('pass', ['ask', 'b'])
    await a.emit('pass', ['ask', 'b'], { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` })
    await a.emit('pass', ['ask', 'b'], { traceparent: PARENT })
    await a.ask('passed', ['tell', 'b'], { traceparent: 7 as never })
    const noted = ['none', 'none', PARENT, 'none']
    await eventually(async () => (await seenBy(host, ['b']))[0]!.length === noted.length, 'b has heard all')
    expect(await seenBy(host, ['a', 'b'])).toEqual([noted, noted])
  })

  it('of an ask by ctx may be another; a wrong one leaves the own', async () => {
    const host = await fleet()
    const other = `00-${'e'.repeat(32)}-${'f'.repeat(16)}-00`
    const ask = (given: unknown) => host.agent('a').ask('other', given, { traceparent: PARENT })
    expect([await ask(other), await ask('rubbish'), await ask(undefined)]).toEqual([other, PARENT, PARENT])
  })
})
