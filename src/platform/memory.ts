/** The memory that this process may use, and how much of it is left. */
import { readFileSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'

const MB = 2 ** 20

/** Of the machine, or of the control group where that has a lower limit; whole MB. */
export function machineMemoryMb(): number {
  // 0 or a number beyond all memory where there is no limit (Node 20 to 26).
  const constrained = process.constrainedMemory()
  return Math.floor((constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()) / MB)
}

/** How the process and its machine stand. */
export interface MemoryReading {
  /** What the machine or the control group still has, MB; null where the platform does not say. */
  readonly availableMb: number | null
  /** What this process has in memory, MB. */
  readonly rssMb: number
}

/** The texts of the files of one control group. */
export interface GroupFiles {
  /** The limit in bytes, or `max`. */
  readonly max: string
  readonly current: string
  /** `memory.stat`. */
  readonly stat: string
}

export function readMemory(): MemoryReading {
  const rssMb = process.memoryUsage.rss() / MB
  if (process.platform === 'linux') return { availableMb: availableMb(textOf('/proc/meminfo'), groups()), rssMb }
  // What macOS calls free leaves out all that it would give back.
  return { availableMb: process.platform === 'win32' ? freemem() / MB : null, rssMb }
}

/**
 * The least that the machine or any group has left, MB: what nobody has, and what is given back when it is asked for.
 * Null where no text says anything.
 * @param meminfo of `/proc/meminfo`
 * @param groups the process's own control group and those above it
 */
export function availableMb(meminfo: string, groups: readonly GroupFiles[]): number | null {
  const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1]
  const machine = kilobytes === undefined ? [] : [Number(kilobytes) / 1024]
  const left = [...machine, ...groups.map(leftOf).filter((mb) => mb !== null)]
  return left.length === 0 ? null : Math.min(...left)
}

/** Pages of files that were not used lately are given back before anybody goes without. */
function leftOf({ max, current, stat }: GroupFiles): number | null {
  const [limit, used] = [max, current].map((text) => (/^\d+\s*$/.test(text) ? Number(text) : null))
  if (limit == null || used == null) return null
  const files = Number((/^total_inactive_file (\d+)$/m.exec(stat) ?? /^inactive_file (\d+)$/m.exec(stat))?.[1] ?? 0)
  return Math.max(0, limit - Math.max(0, used - files)) / MB
}

/** Where groups are, and what their files are called, in version 2 and in version 1. */
const VERSIONS = [
  { line: /^0::(\/.*)$/m, root: '/sys/fs/cgroup', max: 'memory.max', current: 'memory.current' },
  {
    line: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m,
    root: '/sys/fs/cgroup/memory',
    max: 'memory.limit_in_bytes',
    current: 'memory.usage_in_bytes',
  },
] as const

/** Of the process, and all above: in a container the topmost is its own. */
function groups(): GroupFiles[] {
  const mine = textOf('/proc/self/cgroup')
  return VERSIONS.flatMap(({ line, root, max, current }) => {
    const names = (line.exec(mine)?.[1] ?? '/').split('/').filter((name) => name !== '')
    const paths = [root, ...names.map((_, depth) => [root, ...names.slice(0, depth + 1)].join('/'))]
    return paths.map((path) => ({
      max: textOf(`${path}/${max}`),
      current: textOf(`${path}/${current}`),
      stat: textOf(`${path}/memory.stat`),
    }))
  })
}

/** Empty where there is none. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
