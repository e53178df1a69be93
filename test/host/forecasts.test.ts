/** Dry runs of what changes no intent: they say what would be, it then is, and nothing has changed in between. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { OPERATIONS } from '../../src/transports/operations.ts'
import { serviceOf } from '../../src/transports/service.ts'
import { hostFleet, role } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

const HOLDS = role(`events: { async hold(cells) { await wait(cells) }, note() {} }`, AT_GATE)

const call = async (host: Host, name: string, input: object): Promise<unknown> => {
  const prepared = serviceOf(host, { over: 'socket', most: 'admin' }).prepare(
    name,
    { input: { ...input } },
    { who: 'test' },
  )
  if (prepared.kind !== 'call') throw new Error('a stream')
  return prepared.run()
}

async function holding(mailbox: object = {}) {
  const host = await hostFleet({ agents: { a: { role: HOLDS, manifest: { mailbox: { capacity: 2, ...mailbox } } } } })
  return { host, a: host.agent('a') }
}

const emit = (host: Host, event = 'note') => call(host, 'emit', { id: 'a', event, dryRun: true })
const would = (text: RegExp) => ({ dryRun: true, would: expect.stringMatching(text) })

describe('a dry run', () => {
  it('of an emit follows where the agent is, and sends nothing', async () => {
    const { host, a } = await holding()
    const received = () => a.snapshot().tasks.received
    expect(await emit(host)).toEqual(would(/^be handed to 'a'$/))
    expect(await emit(host, 'nothing')).toEqual(would(/^be ignored: 'a' has no handler of 'nothing'$/))
    await a.pause()
    expect(await emit(host)).toEqual(would(/^wait in the mailbox of 'a': it is PAUSED/))
    await Promise.all([a.emit('note'), a.emit('note')])
    expect(await emit(host)).toEqual(would(/^find the mailbox of 'a' full \(drop-newest\)/))
    await a.stop()
    expect(await emit(host)).toEqual(would(/^be ignored by 'a': it is STOPPED \(stopped\)$/))
    expect(received()).toBe(2)
    await expect(call(host, 'emit', { id: 'b', event: 'note', dryRun: true })).rejects.toMatchObject({
      code: 'NoSuchAgent',
    })
  })

  it('of an emit to one that is behind says that it would wait', async () => {
    const { host, a } = await holding({ backlog: 1, window: 16 })
    const gate = new Gate()
    const sent = [a.emit('hold', gate.cells), ...Array.from({ length: 20 }, () => a.emit('note'))]
    expect(await emit(host)).toEqual(would(/^wait for room: the backlog of 'a' is full$/))
    gate.open()
    await Promise.all(sent)
  })

  it('of purge, replay, discard and shutdown says it and leaves all as it was', async () => {
    const { host, a } = await holding()
    await a.pause()
    await a.emit('note')
    expect(await call(host, 'purge', { id: 'a', dryRun: true })).toEqual(would(/^take out 1 that wait for 'a'$/))
    expect(await call(host, 'purge', { id: 'a' })).toEqual({ purged: 1 })
    const [letter] = await host.deadLetters.list()
    for (const [verb, text] of [
      ['replay', /^send again dead letter 1, 'note' of agent 'a'$/],
      ['discard', /^throw away dead letter 1, 'note' of agent 'a'$/],
    ] as const)
      expect(await call(host, verb, { letter: letter!.id, dryRun: true })).toEqual(would(text))
    await expect(call(host, 'discard', { letter: 7, dryRun: true })).rejects.toMatchObject({ code: 'NoSuchDeadLetter' })
    expect(await host.deadLetters.list()).toEqual([letter])
    expect(await call(host, 'shutdown', { dryRun: true })).toEqual(would(/^end the host, and first these agents: a$/))
    await a.stop()
    expect(await call(host, 'shutdown', { dryRun: true })).toEqual(would(/^end the host; no agent runs$/))
    expect(host.fleet().agents).toHaveLength(1)
  })

  it('is an option of every operation that writes, but for what only its answer is wanted of, and tokens', () => {
    const writing = OPERATIONS.filter(({ access, kind }) => access !== 'read' && kind === 'call')
    const without = writing.filter(
      ({ input }) => !input.safeParse({ dryRun: 1 }).error?.issues.some(({ path }) => path[0] === 'dryRun'),
    )
    expect(without.map(({ name }) => name).filter((name) => !name.startsWith('token'))).toEqual(['ask', 'inspect'])
  })
})
