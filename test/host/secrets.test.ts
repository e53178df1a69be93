/** Values of `.env` files, wherever text leaves a host. */
import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { MIN_SECRET_LENGTH, REDACTED, Secrets } from '../../src/host/secrets.ts'
import type { Fact } from '../../src/model/fact.ts'
import type { Output } from '../../src/model/output.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet, role } from '../fleet-on-disk.ts'

const secrets = (...values: string[]): Secrets => {
  const made = new Secrets()
  made.learn(values)
  return made
}

describe('secrets', () => {
  it('are found wherever they stand, whatever they are made of', () => {
    const secret = fc.string({ minLength: MIN_SECRET_LENGTH, maxLength: 40 }).filter((s) => s.trim().length >= 8)
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        const hidden = secrets(value).hide(`${before}${value}${after}`)
        expect(hidden.includes(value.trim())).toBe(false)
        expect(hidden).toContain(REDACTED)
      }),
    )
  })

  it('of fewer than 8 characters are not looked for', () => {
    expect(secrets('1234567', 'true', '').hide('true 1234567')).toBe('true 1234567')
  })

  it('are replaced whole where one begins with another', () => {
    expect(secrets('password', 'password-2').hide('password-2 password')).toBe(`${REDACTED} ${REDACTED}`)
  })

  it('are known line by line, within JSON and within an address', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----'
    const hidden = secrets(key, 'a "quoted" one', 'p@ss/word+1')
    expect(hidden.hide('MIIEvQIBADANBg')).toBe(REDACTED)
    expect(hidden.hide(JSON.stringify({ a: 'a "quoted" one' }))).toBe(`{"a":"${REDACTED}"}`)
    expect(hidden.hide(`https://u:${encodeURIComponent('p@ss/word+1')}@host`)).toBe(`https://u:${REDACTED}@host`)
  })

  it('C127 are hidden in data of any shape, with a cycle in it too', () => {
    const data: Record<string, unknown> = { text: 'is hunter2hunter2', list: ['hunter2hunter2', 1, null] }
    data['self'] = data
    data['map'] = new Map([['hunter2hunter2', new Set(['hunter2hunter2'])]])
    data['error'] = new Error('no hunter2hunter2', { cause: new Error('hunter2hunter2') })
    data['date'] = new Date(0)
    const hidden = secrets('hunter2hunter2').hideIn(data)
    expect(hidden['self']).toBe(hidden)
    expect(hidden['list']).toEqual([REDACTED, 1, null])
    expect(hidden['map']).toEqual(new Map([[REDACTED, new Set([REDACTED])]]))
    expect(hidden['date']).toEqual(new Date(0))
    expect(hidden['error']).toBeInstanceOf(Error)
    expect(hidden['error']).toMatchObject({ message: `no ${REDACTED}`, cause: { message: REDACTED } })
    expect((hidden['error'] as Error).stack).not.toContain('hunter2')
    expect(data['text']).toBe('is hunter2hunter2')
  })

  it('leave everything as it is where there are none', () => {
    const data = { a: 1 }
    expect(new Secrets().hideIn(data)).toBe(data)
  })
})

describe('a host', () => {
  const SECRET = 'sk-live-0123456789'
  const leaky = role(`events: {
    print() { console.log('the key is ' + process.env.KEY) },
    halves() { process.stdout.write('in two: sk-live-'); process.stdout.write('0123456789!' + String.fromCharCode(10)) },
    log(_, ctx) { ctx.log.warn('key ' + process.env.KEY, { key: process.env.KEY }) },
    throw() { throw new Error('refused: ' + process.env.KEY) },
  }`)

  it('shows no secret of a .env in output, log, facts, death records or files', async () => {
    const log: string[] = []
    const outputs: Output[] = []
    const facts: Fact[] = []
    const host = await hostFleet(
      { agents: { leaky: { role: leaky, files: { '.env': `KEY=${SECRET}\n` } } } },
      { log: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }) },
    )
    host.output$.subscribe((output) => outputs.push(output))
    host.facts$.subscribe((fact) => facts.push(fact))
    const agent = host.agent('leaky')
    for (const event of ['print', 'halves', 'log']) await agent.emit(event)
    await agent.emit('throw')
    await eventually(() => agent.deaths().length === 1 && facts.some(({ kind }) => kind === 'agent.died'), 'the death')
    await eventually(() => outputs.length >= 3, 'the output')
    expect(outputs.slice(0, 3).map(({ text }) => text)).toEqual([
      `the key is ${REDACTED}`,
      `in two: ${REDACTED}!`,
      `key ${REDACTED}`,
    ])
    expect(outputs[2]!.data).toEqual({ key: REDACTED })
    expect(agent.deaths()[0]!.error).toMatchObject({ message: `refused: ${REDACTED}` })
    for (const told of [log, outputs, facts, agent.deaths(), host.fleet(), host.why('leaky')])
      expect(JSON.stringify(told)).not.toContain(SECRET)
  })
})
