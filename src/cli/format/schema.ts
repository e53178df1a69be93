/** A JSON Schema in one line, for people: `{ q: string, limit?: integer }`. Deep or unusual parts are left to `--json`. */

const MAX_DEPTH = 3

export function schemaText(schema: unknown, depth = 0): string {
  if (typeof schema !== 'object' || schema === null) return schema === false ? 'never' : 'any JSON'
  const { type, enum: values, const: only, anyOf, oneOf, properties, items } = schema as Record<string, unknown>
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  const options = anyOf ?? oneOf
  if (Array.isArray(options)) return [...new Set(options.map((one) => schemaText(one, depth)))].join(' | ')
  if (type === 'array') return `[${items === undefined ? '…' : schemaText(items, depth + 1)}]`
  if (type === 'object' || typeof properties === 'object') return objectText(schema, depth)
  if (Array.isArray(type)) return type.join(' | ')
  return typeof type === 'string' ? type : 'any JSON'
}

function objectText(schema: object, depth: number): string {
  const { properties, required } = schema as { properties?: unknown; required?: unknown }
  if (typeof properties !== 'object' || properties === null) return 'object'
  if (depth >= MAX_DEPTH) return '{ … }'
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(properties).map(
    ([name, inner]) => `${name}${needed.has(name) ? '' : '?'}: ${schemaText(inner, depth + 1)}`,
  )
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}
