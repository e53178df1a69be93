import { describe, expect, test } from 'vitest'
import { createFacade } from '../../src/capabilities/facade.ts'

const methods = {
  prefix: () => '>',
  shout(text: string) {
    return `${this.prefix()} ${text.toUpperCase()}`
  },
}

describe('a facade', () => {
  test('has the granted methods and nothing else, not even a prototype', () => {
    const facade = createFacade(methods, ['shout'])
    expect(Reflect.ownKeys(facade)).toEqual(['shout'])
    expect(Object.getPrototypeOf(facade)).toBeNull()
  })

  test('cannot be changed, nor can its methods', () => {
    const facade = createFacade(methods, ['shout'])
    expect(Reflect.set(facade, 'shout', () => 'mine')).toBe(false)
    expect(Reflect.set(facade, 'other', 1)).toBe(false)
    expect(Reflect.set(facade['shout'] as object, 'extra', 1)).toBe(false)
    expect(Reflect.setPrototypeOf(facade, {})).toBe(false)
  })

  test('keeps the capability as the receiver, so that a method may use one that was not granted', () => {
    expect(createFacade(methods, ['shout'])['shout']?.('hi')).toBe('> HI')
  })

  test('has no method for a name that is inherited or unknown', () => {
    expect(Reflect.ownKeys(createFacade(methods, ['toString', '__proto__', 'constructor', 'nope']))).toEqual([])
  })
})
