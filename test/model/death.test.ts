/** The cause of an end, from each kind of evidence; the classes of causes; the final steps of a boot. */
import { describe, expect, it } from 'vitest'
import { type BootStep, classOf, DEATH_CAUSES, type Evidence, isFinalStep, judge } from '../../src/model/death.ts'

const BARE: Evidence = { exitCode: 1, booting: false }
const oom = Object.assign(new Error('Worker terminated due to reaching memory limit'), {
  code: 'ERR_WORKER_OUT_OF_MEMORY',
})
const reportedError = { name: 'TypeError', message: 'from the thread' }

describe('the cause', () => {
  it.each<[string, Partial<Evidence>, object]>([
    ['a bare exit', { exitCode: 3 }, { cause: 'exit', exitCode: 3, error: { name: 'Exit' } }],
    ['a bare exit with 0', { exitCode: 0 }, { cause: 'exit', exitCode: 0 }],
    ['an error event', { thrown: new Error('boom') }, { cause: 'crash', error: { message: 'boom' }, exitCode: 1 }],
    ['null thrown', { thrown: null }, { cause: 'crash', error: { message: 'thrown value: null' } }],
    [
      'a report of a crash',
      { reported: { cause: 'crash', error: reportedError } },
      { cause: 'crash', error: reportedError },
    ],
    [
      'a report, over the error event',
      { reported: { cause: 'crash', error: reportedError }, thrown: new Error('later') },
      { cause: 'crash', error: reportedError },
    ],
    ['a report of a normal end', { reported: { cause: 'normal' }, exitCode: 0 }, { cause: 'normal' }],
    ['out of memory', { thrown: oom }, { cause: 'out_of_memory', exitCode: 1 }],
    ['out of memory, over a command', { thrown: oom, told: 'shutdown' }, { cause: 'out_of_memory' }],
    ['out of memory, in the boot', { thrown: oom, booting: true }, { cause: 'out_of_memory' }],
    [
      'out of memory, over a report',
      { thrown: oom, reported: { cause: 'crash', error: reportedError } },
      { cause: 'out_of_memory', error: { code: 'ERR_WORKER_OUT_OF_MEMORY' } },
    ],
    [
      'an error of the agent that calls itself out of memory',
      { reported: { cause: 'crash', error: { ...reportedError, code: 'ERR_WORKER_OUT_OF_MEMORY' } } },
      { cause: 'crash' },
    ],
    [
      'a command, over a report',
      { told: 'shutdown', reported: { cause: 'crash', error: reportedError } },
      { cause: 'shutdown' },
    ],
    ['a command, over a bare exit', { told: 'suspended', exitCode: 5 }, { cause: 'suspended' }],
    ['a command in the boot', { told: 'shutdown', booting: true }, { cause: 'shutdown' }],
    ['a start time-out', { told: 'start_timeout', booting: true }, { cause: 'start_timeout', step: 'roles' }],
    [
      'a start time-out, with how far it had come',
      { told: 'start_timeout', booting: true, step: 'capabilities' },
      { cause: 'start_timeout', step: 'capabilities' },
    ],
    [
      'a refused step of the boot',
      { booting: true, reported: { cause: 'boot_failed', step: 'needs', error: reportedError } },
      { cause: 'boot_failed', step: 'needs', error: reportedError },
    ],
    [
      'an error in the boot',
      { booting: true, thrown: new Error('boom') },
      { cause: 'boot_failed', step: 'roles', error: { message: 'boom' } },
    ],
    [
      'a crash reported in the boot',
      { booting: true, reported: { cause: 'crash', error: reportedError } },
      { cause: 'boot_failed', step: 'roles', error: reportedError },
    ],
    ['an exit in the boot', { booting: true, exitCode: 7 }, { cause: 'boot_failed', step: 'roles', exitCode: 7 }],
    [
      'an await that never settles',
      { booting: true, exitCode: 13 },
      { cause: 'boot_failed', error: { message: expect.stringContaining('never settles') } },
    ],
  ])('of %s', (_name, evidence, expected) => {
    expect(judge({ ...BARE, ...evidence })).toMatchObject(expected)
  })

  it('of a crash names no step of the boot', () => {
    expect(judge({ ...BARE, thrown: new Error('boom') })).not.toHaveProperty('step')
  })

  it('of an exit says that the agent ended itself', () => {
    expect(judge({ ...BARE, exitCode: 3 }).error?.message).toBe(
      'the agent ended itself with process.exit(3), without an error',
    )
  })

  it('is whatever it was told, for each thing the host can tell', () => {
    for (const told of DEATH_CAUSES) expect(judge({ ...BARE, told }).cause).toBe(told)
  })
})

describe('the class', () => {
  it('of every cause is one of three', () => {
    const of = (name: string) => DEATH_CAUSES.filter((cause) => classOf(cause) === name)
    expect(of('normal')).toEqual(['normal', 'shutdown', 'suspended'])
    expect(of('reclaimed')).toEqual(['reclaimed', 'host_died'])
    expect(of('crash')).toHaveLength(DEATH_CAUSES.length - 5)
  })
})

describe('a failed step of the boot', () => {
  it('is final where nothing changes by itself', () => {
    const steps: BootStep[] = [
      'manifest',
      'env',
      'identity',
      'gate',
      'compile',
      'thread',
      'credential',
      'roles',
      'needs',
      'capabilities',
    ]
    expect(steps.filter(isFinalStep)).toEqual(['manifest', 'env', 'identity', 'gate', 'needs'])
    expect(isFinalStep(undefined)).toBe(false)
  })
})
