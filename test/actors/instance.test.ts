/** One incarnation, with a thread played by the test: its proof, its deadlines, its one end, and what is heard after that. */
import { describe, expect, it } from 'vitest'
import { Instance, type InstanceHooks, type InstanceSpec } from '../../src/actors/instance.ts'
import type { Thread } from '../../src/actors/spawn.ts'
import type { DataFromThread, Init } from '../../src/model/wire.ts'
import { WIRE_VERSION } from '../../src/model/wire.ts'
import { prove } from '../../src/platform/proof.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'
import { PlayedWorker } from './played-worker.ts'

/** Answers as it is told to, and may be unable to end. */
class Worker extends PlayedWorker {
  init!: Init
  /** How often it was told to end. */
  terminated = 0
  /** What it says to prove itself. */
  proof: (init: Init) => { version: number; proof: string } = (init) => ({ version: WIRE_VERSION, proof: prove(init) })
  endless = false

  override postMessage(message: Parameters<PlayedWorker['postMessage']>[0]): void {
    if (message.type === 'init') {
      this.init = message
      setImmediate(() => this.emit('message', { type: 'proof', ...this.proof(message) }))
      return
    }
    super.postMessage(message)
  }

  override async terminate(): Promise<number> {
    this.terminated++
    if (!this.endless) setImmediate(() => this.end(1))
    return 1
  }

  end(code: number): void {
    this.emit('exit', code)
  }

  says(message: unknown): void {
    this.emit('message', message)
  }

  override post(message: DataFromThread): void {
    this.init.data.postMessage(message)
  }
}

class TestedInstance {
  readonly clock = new FakeClock()
  readonly heard: string[] = []
  readonly worker = new Worker()
  ended: Parameters<InstanceHooks['onEnded']>[0] | null = null
  readonly instance: Instance

  constructor(spec: Partial<InstanceSpec> = {}, prepare: (worker: Worker) => void = () => {}) {
    prepare(this.worker)
    const hooks: InstanceHooks = {
      onReady: () => this.heard.push('ready'),
      onPaused: (n) => this.heard.push(`paused ${n}`),
      onBell: () => this.heard.push('bell'),
      onFenced: () => {},
      onFlush: () => this.heard.push('flush'),
      onOutput: ({ type }) => this.heard.push(type),
      onLost: (what, count) => this.heard.push(`lost ${count} ${what}`),
      onUnkillable: (afterMs) => this.heard.push(`unkillable ${afterMs}`),
      onGivenUpEnded: () => this.heard.push('given up ended'),
      onEnded: (ended) => {
        this.heard.push('ended')
        this.ended = ended
      },
    }
    this.instance = new Instance(
      {
        id: 'i1',
        agent: 'a',
        epoch: 7,
        durable: false,
        threads: { take: () => this.worker as unknown as Thread },
        heapMb: 64,
        concurrency: 1,
        heartbeatMs: 500,
        bootTimeoutMs: 1000,
        stopTimeoutMs: 2000,
        env: { X: '1' },
        roles: [],
        mounts: [],
        lend: null,
        ...spec,
      },
      hooks,
      this.clock,
    )
  }

  async ready(): Promise<this> {
    for (let turn = 0; turn < 3 && !this.heard.includes('ready'); turn++) await nextTurn()
    expect(this.heard).toEqual(['ready'])
    this.heard.length = 0
    return this
  }
}

describe('the first message', () => {
  it('hands over who it is, and a secret that no other instance has', () => {
    const [one, two] = [new TestedInstance(), new TestedInstance()]
    expect(one.worker.init).toMatchObject({
      version: WIRE_VERSION,
      agent: 'a',
      instance: 'i1',
      epoch: 7,
      heartbeatMs: 500,
      env: { X: '1' },
    })
    expect(one.worker.init.credential).not.toBe(two.worker.init.credential)
    expect(one.worker.init.nonce).not.toBe(two.worker.init.nonce)
    for (const { init } of [one.worker, two.worker]) expect(init.credential.length).toBeGreaterThan(20)
  })

  it.each([
    [
      'with the secret of another instance',
      (init: Init) => ({ version: WIRE_VERSION, proof: prove({ ...init, credential: 'of another' }) }),
      /could not prove its identity/,
    ],
    ['with nothing', () => ({ version: WIRE_VERSION, proof: '' }), /could not prove its identity/],
    ['in another version', (init: Init) => ({ version: 99, proof: prove(init) }), /speaks version 99/],
  ] as const)('answered %s loads nothing, and is a boot that failed', async (_, proof, message) => {
    const tested = new TestedInstance({}, (worker) => {
      worker.proof = proof
    })
    for (let turn = 0; turn < 4; turn++) await nextTurn()
    expect(tested.heard).toEqual(['ended'])
    expect(tested.worker.control).toEqual([])
    expect(tested.ended).toMatchObject({
      booting: true,
      step: 'credential',
      thrown: { message: expect.stringMatching(message) },
    })
  })

  it('that no thread is there to hear ends it in a later turn', () => {
    const refused = {
      take: () => {
        throw new Error('EAGAIN')
      },
    }
    const tested = new TestedInstance({ threads: refused })
    expect(tested.heard).toEqual([])
    tested.clock.drainSoon()
    expect(tested.ended).toMatchObject({ booting: true, step: 'thread', thrown: { message: 'EAGAIN' } })
    tested.clock.advance(60_000)
    expect(tested.heard).toEqual(['ended'])
  })
})

describe('an end', () => {
  it('that comes after the time to boot says so, and what it was at', async () => {
    const tested = new TestedInstance({}, (worker) => {
      worker.postMessage = (message) => {
        if (message.type === 'init') worker.init = message
      }
    })
    tested.clock.advance(1000)
    await nextTurn()
    expect(tested.ended).toMatchObject({
      told: 'start_timeout',
      booting: true,
      thrown: { message: 'not ready within 1000 ms (limits.bootTimeoutMs)' },
    })
  })

  it('takes with it what was posted just before', async () => {
    const tested = await new TestedInstance().ready()
    tested.worker.post({ type: 'flush' })
    tested.worker.post(0)
    tested.worker.end(1)
    expect(tested.heard).toEqual(['flush', 'bell', 'ended'])
  })

  it('has the first cause that was told, but for a kill, and the last thing seen with it', async () => {
    const tested = await new TestedInstance().ready()
    tested.instance.terminate('unresponsive', { message: 'no sign of life' })
    tested.instance.terminate('handler_timeout', { message: 'too long' })
    tested.worker.end(1)
    expect(tested.ended).toMatchObject({ told: 'unresponsive', seen: { message: 'no sign of life' }, booting: false })
    const killed = await new TestedInstance().ready()
    killed.instance.stop('shutdown', 5000, 'shutdown_timeout')
    killed.instance.terminate('killed')
    killed.worker.end(1)
    expect(killed.ended).toMatchObject({ told: 'killed' })
  })

  it('by a stop comes at its earliest deadline, with the cause of being late', async () => {
    const tested = await new TestedInstance().ready()
    tested.instance.stop('shutdown', 5000, 'shutdown_timeout')
    tested.instance.stop('suspended', 100, 'suspended')
    tested.instance.stop('shutdown', 9000, 'shutdown_timeout')
    tested.clock.advance(99)
    expect(tested.worker.terminated).toBe(0)
    tested.clock.advance(1)
    expect(tested.worker.terminated).toBe(1)
    await nextTurn()
    expect(tested.ended).toMatchObject({ told: 'suspended' })
  })

  it('by its own wish has the time of a stop', async () => {
    const tested = await new TestedInstance().ready()
    tested.worker.says({ type: 'ending', cause: 'normal' })
    tested.clock.advance(2000)
    await nextTurn()
    expect(tested.ended).toMatchObject({ told: 'shutdown_timeout', reported: { cause: 'normal' } })
  })

  it('is one, and leaves no timer', async () => {
    const tested = await new TestedInstance().ready()
    tested.instance.stop('shutdown', 5000, 'shutdown_timeout')
    tested.worker.end(0)
    tested.worker.emit('error', new Error('late'))
    tested.instance.terminate('killed')
    tested.instance.stop('shutdown', 1, 'shutdown_timeout')
    tested.clock.advance(60_000)
    expect(tested.heard).toEqual(['ended'])
    expect([tested.instance.alive, tested.clock.timers]).toEqual([false, 0])
  })
})

describe('a thread that cannot be ended', () => {
  const endless = (worker: Worker): void => {
    worker.endless = true
  }

  it('is told once, a second after it was to end, and may end after all', async () => {
    const tested = await new TestedInstance({}, endless).ready()
    tested.instance.terminate('unresponsive')
    tested.clock.advance(999)
    expect(tested.heard).toEqual([])
    tested.clock.advance(1)
    expect(tested.heard).toEqual(['unkillable 1000'])
    tested.instance.terminate('killed')
    tested.clock.advance(60_000)
    expect(tested.heard).toEqual(['unkillable 1000'])
    expect(tested.instance.alive).toBe(true)
    tested.worker.end(1)
    expect(tested.heard).toEqual(['unkillable 1000', 'ended'])
    expect(tested.ended).toMatchObject({ told: 'killed' })
  })

  it('that was given up has ended for good: nothing it says is heard, but that it is gone', async () => {
    const tested = await new TestedInstance({}, endless).ready()
    tested.instance.terminate('unresponsive')
    tested.clock.advance(1000)
    tested.worker.post({ type: 'flush' })
    tested.instance.giveUp()
    expect(tested.heard).toEqual(['unkillable 1000', 'flush', 'ended'])
    expect(tested.ended).toMatchObject({ told: 'unresponsive' })
    tested.heard.length = 0
    tested.worker.post({ type: 'flush' })
    for (const message of [
      { type: 'lines', first: 1, stream: 'stdout', lines: ['out'] },
      { type: 'log', level: 'info', text: 'out' },
      { type: 'paused', n: 1 },
      { type: 'ready', roles: [] },
      { type: 'ending', cause: 'normal' },
    ])
      tested.worker.says(message)
    tested.instance.post({ type: 'answers', ids: [], text: '[]' })
    tested.instance.pause(1)
    await nextTurn()
    expect(tested.heard).toEqual([])
    expect(tested.clock.timers).toBe(0)
    tested.worker.end(1)
    expect(tested.heard).toEqual(['given up ended'])
  })
})
