/** Operations on the catalog. */
import { z } from 'zod'

import * as shapes from '../shapes.ts'
import { call, dryRun, id, nothing, path } from './fields.ts'

export const INSTALLING = [
  call({
    name: 'catalog',
    summary: 'agents that were installed while a host ran, and how they stand',
    access: 'read',
    input: nothing,
    output: z.array(shapes.catalogItem),
    positional: [],
    rest: { verb: 'GET', path: '/catalog' },
    cli: '',
    run: (host) => host.catalog.list(),
  }),
  call({
    name: 'install',
    summary: 'makes an agent in a folder or a tarball a member of the fleet, or takes a newer version of it',
    access: 'admin',
    input: z.strictObject({ source: path, dryRun }),
    output: shapes.installAnswer,
    positional: ['source'],
    rest: { verb: 'POST', path: '/catalog' },
    cli: 'SOURCE [--dry-run]',
    run: (host, { source, ...options }, { who }) => host.catalog.install(source, { ...options, by: who }),
  }),
  call({
    name: 'uninstall',
    summary: 'takes an installed agent out of the fleet, with all it has kept',
    access: 'admin',
    input: z.strictObject({ name: id, dryRun }),
    output: shapes.uninstallAnswer,
    positional: ['name'],
    rest: { verb: 'DELETE', path: '/catalog/{name}' },
    cli: 'NAME [--dry-run]',
    run: (host, { name: target, ...options }, { who }) => host.catalog.uninstall(target, { ...options, by: who }),
  }),
] as const
