/** The traps of the driver that the connection keeps away: each of them ends the process or hides a mistake. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Connection } from '../../src/store/connection.ts'
import { bytes, computed, flag, integer, json, maybe, text } from '../../src/store/rows.ts'
import { errorOf, tempFolder } from './temp-store.ts'

function table(): Connection {
  const connection = new Connection(':memory:')
  connection.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, a_text TEXT, a_blob BLOB, a_flag INTEGER) STRICT')
  return connection
}

const ROW = { id: integer, aText: maybe(text), aBlob: maybe(bytes), aFlag: flag }

describe('a statement', () => {
  it.each([
    ['a boolean', true],
    ['undefined', undefined],
    ['a bigint', 1n],
    ['an object', {}],
    ['a date', new Date(0)],
    ['an array', [1]],
    ['a buffer without a view', new ArrayBuffer(1)],
    ['two-byte numbers', new Uint16Array(1)],
  ])('refuses %s, which the driver dies of or mistakes', async (_what, value) => {
    const connection = table()
    const insert = connection.insert('t', ['a_text'])
    const error = await errorOf(() => connection.transaction(() => insert.run(value as string)))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain('expected text, a number, bytes or null')
  })

  it('refuses too few and too many values', async () => {
    const connection = table()
    const insert = connection.insert('t', ['a_text', 'a_flag'])
    const numbered = connection.change('UPDATE t SET a_text = ?2 WHERE id = ?1 OR a_text = ?2')
    for (const values of [['x'], ['x', 1, 1]]) {
      const error = await errorOf(() => connection.transaction(() => insert.run(...values)))
      expect(error.message).toBe(`expected 2 values, got ${values.length}`)
    }
    expect(() => connection.transaction(() => numbered.run(1, 'x'))).not.toThrow()
  })

  it('changes nothing outside of a unit of work', async () => {
    const connection = table()
    const insert = connection.insert('t', ['a_text'])
    expect((await errorOf(() => insert.run('x'))).code).toBe('Internal')
    expect(connection.query({ n: computed('count(*)') }, 'FROM t').get()).toEqual({ n: 0 })
  })

  it('throws once its connection is closed, in place of reading on', async () => {
    const connection = table()
    const query = connection.query(ROW, 'FROM t')
    connection.close()
    expect((await errorOf(() => query.all())).code).toBe('ShuttingDown')
  })
})

describe('rows', () => {
  it('have the columns of their shape alone, the same by get and by all', () => {
    const connection = table()
    const insert = connection.insert('t', ['a_text', 'a_blob', 'a_flag'])
    connection.transaction(() => {
      insert.run('ä😀\u0000b', new Uint8Array([0, 255]), 1)
      insert.run(null, null, 0)
      insert.run('\ufeffmark', new Uint8Array(0), 0)
    })
    const query = connection.query(ROW, 'FROM t WHERE id >= ? ORDER BY id')
    const expected = [
      { id: 1, aText: 'ä😀\u0000b', aBlob: Buffer.from([0, 255]), aFlag: true },
      { id: 2, aText: null, aBlob: null, aFlag: false },
      { id: 3, aText: '\ufeffmark', aBlob: Buffer.alloc(0), aFlag: false },
    ]
    expect(query.all(1)).toEqual(expected)
    expect([1, 2, 3].map((id) => query.get(id))).toEqual(expected)
    expect(query.get(4)).toBeUndefined()
  })

  it('C131: are read where their text was damaged, which ends the process by the bare driver', async () => {
    const path = join(tempFolder(), 'x.db')
    const first = new Connection(path)
    first.exec(`CREATE TABLE t (a TEXT, j TEXT) STRICT; INSERT INTO t VALUES ('MARK-text', '{"MARK":1}')`)
    first.close()
    const damaged = readFileSync(path)
    for (let at = damaged.indexOf('MARK'); at >= 0; at = damaged.indexOf('MARK', at + 4)) damaged[at + 1] = 0xff
    writeFileSync(path, damaged)
    const connection = new Connection(path)
    expect(connection.query({ a: text }, 'FROM t').all()).toEqual([{ a: 'M\ufffdRK-text' }])
    expect(connection.query({ j: json() }, 'FROM t').get()).toEqual({ j: { 'M\ufffdRK': 1 } })
    const asJson = await errorOf(() => connection.query({ a: json() }, 'FROM t').get())
    expect(asJson).toMatchObject({ code: 'StateCorrupt' })
    expect(asJson.message).toContain(`${path} is damaged`)
    expect(asJson.message).toContain("column 'a': expected JSON, found")
    connection.close()
  })
})
