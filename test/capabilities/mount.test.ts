import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { mountCapabilities } from '../../src/thread/capabilities.ts'
import { lendMethods, silent } from './loan.ts'

const localUrl = new URL('../fixtures/capabilities/local.mjs', import.meta.url).href
const localMount = { id: 'local', allow: ['seen', 'fail'], module: { url: localUrl, file: 'capabilities/local.ts' } }
const importFresh = (source: { url: string }): Promise<unknown> => import(`${source.url}?${Math.random()}`)
const never = (): Promise<unknown> => Promise.reject(new Error('nothing to import'))

const methods = {
  tokens: (text: string) => text.split(' '),
  erase: () => 'gone',
  fail: () => {
    throw Object.assign(new RangeError('too far', { cause: new TypeError('the root') }), { code: 'E_FAR', row: 3 })
  },
  live: () => () => 1,
  never: () => new Promise(() => {}),
}

async function mountLent(allow: readonly string[]) {
  const test = lendMethods(methods, allow)
  const mounted = await mountCapabilities(test.far, [{ id: 'text', allow, module: null }], never, silent)
  return { ...test, mounted, text: mounted.get<typeof methods>('text') }
}

describe('a lent capability', () => {
  test('is a frozen object of the granted methods, and of no others', async () => {
    const { text, loan } = await mountLent(['tokens'])
    expect(Reflect.ownKeys(text)).toEqual(['tokens'])
    expect(Object.isFrozen(text)).toBe(true)
    expect(await text.tokens('a b')).toEqual(['a', 'b'])
    loan.close()
  })

  test('may be awaited without hanging', async () => {
    const { text, loan } = await mountLent(['tokens'])
    expect(await text).toBe(text)
    expect(await text.tokens).toBe(text.tokens)
    loan.close()
  })

  test('rejects with the error as it was thrown: name, code, fields, cause', async () => {
    const { text, loan } = await mountLent(['fail'])
    const error = await text.fail().catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'RangeError', message: 'too far', code: 'E_FAR', row: 3 })
    expect((error as Error).cause).toMatchObject({ name: 'TypeError', message: 'the root' })
    expect((error as Error).stack).toContain('mount.test.ts')
    loan.close()
  })

  test('rejects when result or argument cannot be copied', async () => {
    const { text, loan } = await mountLent(['live', 'tokens'])
    await expect(text.live()).rejects.toMatchObject({ code: 'NotCloneable' })
    const odd = { list: [() => 1] } as unknown as string
    await expect(text.tokens(odd)).rejects.toMatchObject({
      code: 'NotCloneable',
      message: expect.stringContaining('[0].list[0]'),
    })
    expect(await text.tokens('still here')).toEqual(['still', 'here'])
    loan.close()
  })

  test('rejects when its instance has been replaced', async () => {
    const { text, loan, instance } = await mountLent(['tokens'])
    instance.current = false
    await expect(text.tokens('a')).rejects.toMatchObject({ code: 'StaleEpoch' })
    loan.close()
  })

  test('rejects what is pending, and later calls, when the host ends the loan', async () => {
    const { text, loan, far } = await mountLent(['never'])
    const pending = text.never()
    const ended = once(far, 'close')
    loan.close()
    await expect(pending).rejects.toMatchObject({ code: 'Aborted' })
    await ended
    await expect(text.never()).rejects.toMatchObject({ code: 'Aborted' })
  })

  test('holds one listener a kind and no pending call after 20,000 calls', async () => {
    const { text, loan, near, far } = await mountLent(['tokens'])
    const listeners = () =>
      ['message', 'messageerror', 'close'].map((event) => [near.listenerCount(event), far.listenerCount(event)])
    const before = listeners()
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 1000 }, () => text.tokens('a')))
    expect(listeners()).toEqual(before)
    expect(near.listenerCount('message')).toBe(1)
    expect(loan.pending).toBe(0)
    loan.close()
  })
})

describe('a capability of the agent’s own thread', () => {
  test('boots, answers with promises, and is shut down', async () => {
    const mounted = await mountCapabilities(null, [localMount], importFresh, silent)
    const local = mounted.get('local')
    expect(Reflect.ownKeys(local)).toEqual(['seen', 'fail'])
    expect(Object.isFrozen(local)).toBe(true)
    const seen = await local['seen']?.()
    expect(seen).toEqual(['boot'])
    await expect(local['fail']?.()).rejects.toThrow('local failure')
    await mounted.shutdown()
    expect(seen).toEqual(['boot', 'shutdown'])
  })

  test('that does not boot is named with its file and reason, and what had booted is shut down', async () => {
    const ended: string[] = []
    const module = (id: string, boot: () => void): unknown => ({
      default: { id, placement: 'agent', methods: { go: () => 1 }, boot, shutdown: () => ended.push(id) },
    })
    const modules: Record<string, unknown> = {
      first: module('first', () => {}),
      second: module('second', () => {
        throw new Error('no disk')
      }),
    }
    const mounts = ['first', 'second'].map((id) => ({ id, allow: ['go'], module: { url: id, file: `${id}.ts` } }))
    await expect(mountCapabilities(null, mounts, async ({ url }) => modules[url], silent)).rejects.toMatchObject({
      code: 'BootFailed',
      message: "capability 'second' (second.ts) did not boot: no disk",
    })
    expect(ended).toEqual(['first'])
  })

  test('that lacks a granted method is refused', async () => {
    const mount = { ...localMount, allow: ['seen', 'nope'] }
    await expect(mountCapabilities(null, [mount], importFresh, silent)).rejects.toMatchObject({ code: 'GateRefused' })
  })

  test('whose shutdown throws keeps none of the others from theirs', async () => {
    const ended: string[] = []
    const errors: string[] = []
    const load = async ({ url: id }: { url: string }): Promise<unknown> => ({
      default: {
        id,
        methods: { go: () => 1 },
        shutdown: () => {
          ended.push(id)
          if (id === 'b') throw new Error('stuck')
        },
      },
    })
    const mounts = ['a', 'b', 'c'].map((id) => ({ id, allow: ['go'], module: { url: id, file: id } }))
    const log = { ...silent, error: (text: string) => errors.push(text) }
    await (await mountCapabilities(null, mounts, load, log)).shutdown()
    expect(ended).toEqual(['c', 'b', 'a'])
    expect(errors).toEqual(["capability 'b' failed to shut down"])
  })
})

describe('mounted capabilities', () => {
  test('answer an unknown id with what is mounted', async () => {
    const mounted = await mountCapabilities(
      null,
      [localMount, { id: 'bare', allow: [], module: null }],
      importFresh,
      silent,
    )
    expect(Reflect.ownKeys(mounted.get('bare'))).toEqual([])
    expect(() => mounted.get('text')).toThrow(
      expect.objectContaining({ code: 'NoSuchCapability', message: expect.stringContaining('local, bare') }),
    )
  })

  test('refuse a loan without a port', async () => {
    const mounts = [{ id: 'text', allow: ['tokens'], module: null }]
    await expect(mountCapabilities(null, mounts, never, silent)).rejects.toMatchObject({ code: 'BootFailed' })
  })
})
