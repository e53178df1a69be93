import { describe, expect, it } from 'vitest'
import { capabilityLines, commandLines } from '../../../src/cli/format/abilities.ts'
import { schemaText } from '../../../src/cli/format/schema.ts'
import { PLAIN } from '../agents.ts'

describe('a schema', () => {
  it.each([
    [undefined, 'any JSON'],
    [{}, 'any JSON'],
    [false, 'never'],
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 1] }, '"a" | 1'],
    [{ const: 'a' }, '"a"'],
    [{ type: 'array', items: { type: 'integer' } }, '[integer]'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'object' }, 'object'],
    [{ type: 'object', properties: {} }, '{}'],
    [
      { type: 'object', properties: { q: { type: 'string' }, limit: { type: 'integer' } }, required: ['q'] },
      '{ q: string, limit?: integer }',
    ],
  ])('%j is %s', (schema, text) => {
    expect(schemaText(schema)).toBe(text)
  })

  it('that goes on without end does not', () => {
    const schema: Record<string, unknown> = { type: 'object', required: ['a'] }
    schema['properties'] = { a: schema }
    expect(schemaText(schema)).toBe('{ a: { a: { a: { … } } } }')
  })
})

describe('what may be asked of an agent', () => {
  it('is a name, what it is, and what goes in', () => {
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
    const commands = [
      { name: 'find', role: 'search', summary: 'The documents that fit best', inputSchema, exclusive: false },
      { name: 'compact', role: 'search', summary: '', exclusive: true },
    ]
    expect(commandLines(commands, PLAIN)).toEqual([
      'find  (search)',
      '    The documents that fit best',
      '    input { q: string }',
      'compact  (search, exclusive)',
    ])
    expect(commandLines([], PLAIN)).toEqual(['no commands: it takes events alone, or has not been up yet'])
  })
})

describe('what the host lends', () => {
  it('is methods, and who may call which', () => {
    const capabilities = [
      {
        id: 'text',
        placement: 'pool',
        methods: ['terms', 'stem'],
        grantedTo: [{ agent: 'reader', methods: ['terms'] }],
      },
      { id: 'mail', placement: 'host', methods: [], unavailable: 'mail.ts does not import', grantedTo: [] },
    ] as const
    expect(capabilityLines(capabilities, PLAIN)).toEqual([
      'text  (pool)',
      '    methods terms, stem',
      '    granted to reader: terms',
      'mail  (host)',
      '    unavailable: mail.ts does not import',
      '    methods none',
      '    granted to nobody',
    ])
    expect(capabilityLines([], PLAIN)).toEqual(['no capabilities'])
  })
})
