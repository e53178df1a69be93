/**
 * A second socket, for a group of the machine: its members may look and change nothing. It has a folder of its own, since
 * that of the first one lets nobody in:
 *
 *     <temporary folder>/holt-<uid>-group-<gid>/<name>-<hash>.sock      folder 0750, socket 0660, both of the group
 */

import { chmodSync, chownSync, lstatSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Host } from '../../host/host.ts'
import { describeError, HoltError } from '../../model/error.ts'
import { serviceOf } from '../service.ts'
import { ownUid, socketFor } from './fleet-socket.ts'
import { listen, type UdsServer } from './server.ts'

const FOLDER_MODE = 0o750

/** @throws HoltError `InvalidOption` */
export async function openGroupSocket(host: Host, group: string): Promise<UdsServer> {
  const gid = await gidOf(group)
  const folder = join(tmpdir(), `holt-${ownUid()}-group-${gid}`)
  makeFolder(folder, gid)
  // The same name as the first one's folder has.
  const own = dirname(socketFor(host.fleetDir))
  const path = join(folder, `${own.slice(own.lastIndexOf('/') + 1)}.sock`)
  return listen({ path, gid, service: serviceOf(host, { over: 'socket', most: 'read' }), log: host.log })
}

/** By `/etc/group`: the platform has no call for it. */
async function gidOf(group: string): Promise<number> {
  if (/^\d{1,9}$/.test(group)) return Number(group)
  const text = await readFile('/etc/group', 'utf8').catch(() => '')
  const line = text.split('\n').find((one) => one.startsWith(`${group}:`))
  const gid = Number(line?.split(':')[2] || Number.NaN)
  if (Number.isInteger(gid)) return gid
  throw wrong(`expected a group of this machine, found '${group}'. Where it is not in /etc/group, give its number`)
}

function makeFolder(folder: string, gid: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const stats = lstatSync(folder)
    if (!stats.isDirectory() || stats.uid !== ownUid()) throw wrong(`${folder} is another's. Remove it as its owner`)
    chownSync(folder, -1, gid)
    chmodSync(folder, FOLDER_MODE)
  } catch (error) {
    if (error instanceof HoltError) throw error
    throw wrong(`${folder} cannot be given to group ${gid} (${describeError(error).message}): be a member of it`)
  }
}

const wrong = (text: string): HoltError =>
  new HoltError('InvalidOption', `socket group: ${text}`, { option: 'socketGroup' })
