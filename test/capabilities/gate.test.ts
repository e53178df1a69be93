import { describe, expect, test } from 'vitest'
import { missing, missingNeeds, sentenceOf } from '../../src/capabilities/gate.ts'

const offered = [
  { id: 'text', methods: ['tokens', 'stem'] },
  { id: 'clock', methods: ['now'] },
  { id: 'index', methods: ['add'], unavailable: 'its boot failed: disk full' },
]

describe('the gate', () => {
  test('is open when all that is granted is offered', () => {
    expect(
      missing(
        [
          { id: 'text', allow: ['stem', 'tokens'] },
          { id: 'clock', allow: [] },
        ],
        offered,
      ),
    ).toEqual([])
    expect(missing([], [])).toEqual([])
  })

  test('names a capability that does not exist, and the nearest that does', () => {
    expect(missing([{ id: 'texts', allow: ['tokens'] }], offered)).toEqual([
      {
        capability: 'texts',
        suggestion: 'text',
        sentence: "capability 'texts' does not exist (there is: text, clock, index). Did you mean 'text'?",
      },
    ])
  })

  test('names every method that is not offered, and the nearest that is', () => {
    const list = missing([{ id: 'text', allow: ['tokesn', 'tokens', 'translate'] }], offered)
    expect(list.map(({ method, suggestion }) => [method, suggestion])).toEqual([
      ['tokesn', 'tokens'],
      ['translate', undefined],
    ])
  })

  test('gives the reason why a capability is unavailable', () => {
    expect(sentenceOf(missing([{ id: 'index', allow: ['add'] }], offered))).toBe(
      "capability 'index' is unavailable: its boot failed: disk full",
    )
  })

  test('does not take what every object inherits for a method', () => {
    expect(missing([{ id: 'text', allow: ['toString', 'constructor'] }], offered)).toHaveLength(2)
  })

  test('lists all that is missing in one text', () => {
    const text = sentenceOf(
      missing(
        [
          { id: 'text', allow: ['a', 'b'] },
          { id: 'nowhere', allow: [] },
        ],
        offered,
      ),
    )
    expect(text).toMatch(/^3 things are missing: \(1\) .*'a'.* \(2\) .*'b'.* \(3\) .*'nowhere'/)
  })

  test('names the role and the capability it needs, with what is granted', () => {
    const roles = [
      { name: 'search', needs: ['text', 'clok'] },
      { name: 'index', needs: [] },
    ]
    expect(missingNeeds(roles, ['text', 'clock'])).toEqual([
      {
        capability: 'clok',
        role: 'search',
        suggestion: 'clock',
        sentence:
          "role 'search' needs capability 'clok', which is not granted (granted: text, clock). Grant it in agent.yml. Did you mean 'clock'?",
      },
    ])
  })
})
