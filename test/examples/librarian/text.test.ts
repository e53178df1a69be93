import { describe, expect, test } from 'vitest'
import text, { bag, tokens } from '../../../examples/librarian/capabilities/text.ts'

describe('tokens', () => {
  test('are runs of letters and digits in lower case', () => {
    expect(tokens('Node.js 20: `worker_threads`, UTF-8!')).toEqual(['node', 'js', '20', 'worker', 'threads', 'utf'])
  })

  test('keep letters of any script, in one form', () => {
    expect(tokens('Größe cafe\u0301 हिन्दी')).toEqual(['größe', 'café', 'हिन्दी'])
  })

  test('leave out single letters and what is too long to be a word', () => {
    expect(tokens(`a bc ${'x'.repeat(40)} ${'x'.repeat(41)}`)).toEqual(['bc', 'x'.repeat(40)])
  })

  test('of no words there are none', () => {
    expect(tokens(' -- ** ')).toEqual([])
  })
})

describe('bag', () => {
  test('counts stems together and the length with repeats', () => {
    const { length, terms } = bag('Supervisors supervise; a supervisor supervised. v20')
    expect(length).toBe(5)
    expect({ ...terms }).toEqual({ supervisor: 2, supervis: 2, v20: 1 })
  })

  test('words that every object has are words like any other', () => {
    const { terms } = bag('constructor __proto__ hasOwnProperty valueOf constructor')
    expect(Object.entries(terms).sort()).toEqual([
      ['constructor', 2],
      ['hasownproperti', 1],
      ['proto', 1],
      ['valueof', 1],
    ])
  })
})

test('the capability answers text by text, in order', () => {
  expect(text).toMatchObject({ id: 'text', placement: 'pool' })
  expect(text.methods.terms(['otters', '', 'holt holt']).map(({ length }) => length)).toEqual([1, 0, 2])
})
