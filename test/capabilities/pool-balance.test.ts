import { describe, expect, test } from 'vitest'
import { MAX_DEPTH, PoolBalance } from '../../src/capabilities/pool-balance.ts'
import { PoolLedger, RUNNING } from '../../src/capabilities/pool-ledger.ts'

const noted = (ms: number, times = 100): PoolBalance => {
  const balance = new PoolBalance()
  for (let i = 0; i < times; i++) balance.note(ms)
  return balance
}

describe('the balance of a pool', () => {
  test('hands calls out singly as long as it knows nothing, and when they are long', () => {
    expect(new PoolBalance().depth).toBe(1)
    expect(noted(50).depth).toBe(1)
  })

  test('hands short calls out by the batch, within a limit', () => {
    expect(noted(0.1).depth).toBe(9)
    expect(noted(0).depth).toBe(MAX_DEPTH)
  })

  test('becomes careful again at one long call', () => {
    const balance = noted(0.001)
    expect(balance.depth).toBe(MAX_DEPTH)
    balance.note(100)
    expect(balance.depth).toBe(1)
  })

  test('hands out singly after a death, so that the next has one suspect', () => {
    const balance = noted(0.001)
    balance.forget()
    expect(balance.depth).toBe(1)
  })

  test('picks the least busy thread that has room', () => {
    const [a, b, c] = [{ currentUsage: 3 }, { currentUsage: 1 }, { currentUsage: 2 }]
    expect(noted(0).pick([a, b, c])).toBe(b)
    expect(new PoolBalance().pick([a, b, c])).toBeNull()
    expect(new PoolBalance().pick([])).toBeNull()
  })
})

describe('the ledger of a pool', () => {
  test('has as many slots as its capacity and gives them again', () => {
    const ledger = new PoolLedger(2)
    expect([ledger.take(), ledger.take(), ledger.take()]).toEqual([0, 1, undefined])
    expect(ledger.outstanding).toBe(2)
    ledger.give(0)
    expect(ledger.outstanding).toBe(1)
    expect(ledger.take()).toBe(0)
  })

  test('forgets what a dead thread had marked when the slot is taken again', () => {
    const ledger = new PoolLedger(1)
    ledger.take()
    new Uint8Array(ledger.shared)[0] = RUNNING
    expect(ledger.isRunning(0)).toBe(true)
    ledger.give(0)
    ledger.take()
    expect(ledger.isRunning(0)).toBe(false)
  })
})
