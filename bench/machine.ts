/**
 * Where and with what a bench ran: processor, memory, Node, package versions, load. Printed with every table, because
 * a figure without them says nothing.
 */
import { readFileSync } from 'node:fs'
import os from 'node:os'

export interface Surroundings {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly platform: string
  readonly node: string
  readonly packages: Readonly<Record<string, string>>
  /** Load average of the last minute before the first child. */
  readonly load: number
}

const root = new URL('../', import.meta.url)

function versionIn(manifest: string): string {
  const { version } = JSON.parse(readFileSync(new URL(manifest, root), 'utf8')) as { version: string }
  return version
}

export function surroundings(packages: readonly string[]): Surroundings {
  const versions = packages.map((name) => [name, versionIn(`node_modules/${name}/package.json`)] as const)
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGib: Math.round(os.totalmem() / 2 ** 30),
    platform: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.version,
    packages: Object.fromEntries([['holt', versionIn('package.json')], ...versions]),
    load: os.loadavg()[0] ?? 0,
  }
}

export function describeSurroundings(where: Surroundings): string {
  const packages = Object.entries(where.packages).map(([name, version]) => `${name} ${version}`)
  return [
    `${where.cpu}, ${where.cores} cores, ${where.memoryGib} GiB, ${where.platform}, load ${where.load.toFixed(2)}`,
    `Node ${where.node}; ${packages.join(', ')}`,
  ].join('\n')
}
