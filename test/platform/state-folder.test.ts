/** Where the state of a fleet is when nobody says. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fleetFolderName, stateFolder } from '../../src/platform/paths.ts'

function fleet(name: string): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'holt-paths-')))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, name))
  return join(dir, name)
}

describe('the name of a fleet among others', () => {
  it('is that of its folder with a hash of its real path, the same by every path to it', () => {
    const dir = fleet('library')
    const link = join(dirname(dir), 'link')
    symlinkSync(dir, link)
    expect(fleetFolderName(dir)).toMatch(/^library-[0-9a-f]{12}$/)
    expect(fleetFolderName(link)).toBe(fleetFolderName(dir))
    expect(fleetFolderName(`${dir}/../library/`)).toBe(fleetFolderName(dir))
    expect(fleetFolderName(fleet('library'))).not.toBe(fleetFolderName(dir))
  })

  it('has no characters that a shell minds, and is short', () => {
    expect(fleetFolderName(fleet(`my fleet $(x) ${'y'.repeat(100)}`))).toMatch(/^[A-Za-z0-9_-]{24}-[0-9a-f]{12}$/)
  })
})

describe('the state folder', () => {
  const dir = tmpdir()
  const at = (place: string): string => join(place, 'holt', fleetFolderName(dir))
  const of = (platform: NodeJS.Platform, env: Record<string, string> = {}): string =>
    stateFolder(dir, { platform, env, home: '/home/ann' })

  it.each<readonly [NodeJS.Platform, Record<string, string>, string]>([
    ['linux', {}, '/home/ann/.local/state'],
    ['linux', { XDG_STATE_HOME: '/var/ann' }, '/var/ann'],
    ['linux', { XDG_STATE_HOME: 'relative' }, '/home/ann/.local/state'],
    ['linux', { XDG_STATE_HOME: '' }, '/home/ann/.local/state'],
    ['freebsd', {}, '/home/ann/.local/state'],
    ['darwin', { XDG_STATE_HOME: '/var/ann' }, '/home/ann/Library/Application Support'],
    ['win32', { LOCALAPPDATA: '/local' }, '/local'],
    ['win32', {}, '/home/ann/AppData/Local'],
  ])('on %s with %j is in %s', (platform, env, place) => {
    expect(of(platform, env)).toBe(at(place))
  })

  it('is of this user on this machine unless told', () => {
    const folder = stateFolder(dir)
    expect(basename(folder)).toBe(fleetFolderName(dir))
    if (process.platform === 'linux' && process.env['XDG_STATE_HOME'] === undefined) {
      expect(folder.startsWith(homedir())).toBe(true)
    }
  })
})
