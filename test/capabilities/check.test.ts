import { describe, expect, test } from 'vitest'
import { checkCapability } from '../../src/capabilities/check.ts'
import { defineCapability } from '../../src/capabilities/contract.ts'

const good = { id: 'text', placement: 'host', methods: { tokens: () => [] } }
const faultOf = (exported: unknown): unknown => {
  try {
    checkCapability({ default: exported }, 'capabilities/text.ts')
    return undefined
  } catch (error) {
    return error
  }
}

describe('a capability module', () => {
  test('passes as defineCapability makes it', () => {
    const capability = defineCapability({ id: 'text', placement: 'pool', methods: { tokens: () => [] } })
    expect(checkCapability({ default: capability }, 'text.ts')).toBe(capability)
  })

  test.each([
    ['no default export', undefined, 'default export'],
    ['a default export that is a function', () => {}, 'default export'],
    ['no id', { ...good, id: undefined }, 'id'],
    ['an id with capitals', { ...good, id: 'Text' }, 'id'],
    ['an id of 64 characters', { ...good, id: 'a'.repeat(64) }, 'id'],
    ['an unknown placement', { ...good, placement: 'cloud' }, 'placement'],
    ['methods that are an array', { ...good, methods: [] }, 'methods'],
    ['no methods', { ...good, methods: {} }, 'methods'],
    [
      'methods of a class',
      {
        ...good,
        methods: new (class Text {
          tokens() {}
        })(),
      },
      'methods',
    ],
    ['a method that is no function', { ...good, methods: { tokens: 1 } }, 'methods.tokens'],
    ['a method called then', { ...good, methods: { ['the'.concat('n')]: () => {} } }, 'methods.then'],
    ['a method called bind', { ...good, methods: { bind: () => {} } }, 'methods.bind'],
    ['a method called constructor', { ...good, methods: { constructor: () => {} } }, 'methods.constructor'],
    ['a method called prototype', { ...good, methods: { prototype: () => {} } }, 'methods.prototype'],
    ['a method called __proto__', { ...good, methods: { ['__proto__']: () => {} } }, 'methods.__proto__'],
    ['a boot that is no function', { ...good, boot: true }, 'boot'],
    ['a shutdown that is no function', { ...good, shutdown: 'later' }, 'shutdown'],
  ])('with %s is refused, naming file and field', (_what, exported, field) => {
    expect(faultOf(exported)).toMatchObject({
      code: 'InvalidManifest',
      message: expect.stringContaining(`capabilities/text.ts: ${field}: expected `),
      details: { file: 'capabilities/text.ts', field },
    })
  })

  test('may have an id of 63 characters', () => {
    expect(faultOf({ ...good, id: 'a'.repeat(63) })).toBeUndefined()
  })
})
