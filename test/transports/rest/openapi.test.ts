/** The OpenAPI document: a validator takes it, a public generator makes a client of it that compiles and drives a fleet. */
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { validate } from '@readme/openapi-parser'
import { generateApi } from 'swagger-typescript-api'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ERRORS } from '../../../src/model/error.ts'
import { openApi } from '../../../src/transports/rest/openapi.ts'
import { ROUTES } from '../../../src/transports/rest/routes.ts'
import { ROOT } from '../../source-graph.ts'
import { restHost } from './rest-host.ts'

type Document = Parameters<typeof validate>[0]

interface Parts {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

const document = (): Parts => JSON.parse(openApi()) as Parts

describe('the document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const answer = await validate(document() as never as Document)
    expect(answer).toMatchObject({ valid: true, warnings: [] })
    expect(document().openapi).toBe('3.1.0')
  })

  it('has every route of the table, and every code of the table of errors', () => {
    const { paths, components } = document()
    const routes = ROUTES.map(({ verb, path }) => `${verb} ${path}`)
    const documented = Object.entries(paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
    )
    expect(routes.filter((route) => !documented.includes(route))).toEqual([])
    expect(components.schemas).toMatchObject({ Problem: { properties: { code: { enum: Object.keys(ERRORS) } } } })
    const ids = Object.values(paths).flatMap((verbs) => Object.values(verbs).map(({ operationId }) => operationId))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('names only schemas that it has', () => {
    const { components } = document()
    const named = [...openApi().matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => components.schemas[name] === undefined)).toEqual([])
  })
})

/** What the generator makes of the paths this test calls. */
interface GeneratedApi {
  readonly agents: {
    get(id: string): Promise<{ data: { id: string; phase: string } }>
    pause(id: string, data: { reason?: string }): Promise<{ data: { phase: string } }>
    resume(id: string, data: object): Promise<{ data: { phase: string } }>
    ask(id: string, data: { command: string; payload?: unknown }): Promise<{ data: unknown }>
  }
}

describe('a client that was generated from it', () => {
  it('compiles, and drives a fleet', async () => {
    const dir = join(ROOT, 'node_modules', '.holt-generated', String(process.pid))
    await mkdir(dir, { recursive: true })
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    await generateApi({
      spec: document() as never,
      output: dir,
      fileName: 'api.ts',
      httpClientType: 'fetch',
      silent: true,
    })
    const options = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      lib: ['es2023', 'dom', 'dom.iterable'],
    }
    await writeFile(join(dir, 'package.json'), '{"type":"module"}')
    await writeFile(
      join(dir, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, types: [] }, files: ['api.ts'] }),
    )
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    await promisify(execFile)(process.execPath, [tsc, '-p', dir])

    const { server, tokens, host } = await restHost()
    const { Api } = (await import(/* @vite-ignore */ pathToFileURL(join(dir, 'api.ts')).href)) as {
      Api: new (config: object) => GeneratedApi
    }
    const api = new Api({
      baseUrl: server.url,
      baseApiParams: { headers: { Authorization: `Bearer ${tokens.control}` }, format: 'json' },
    })
    expect((await api.agents.get('hand')).data).toMatchObject({ id: 'hand', phase: 'ACTIVE' })
    expect((await api.agents.pause('hand', { reason: 'generated' })).data.phase).toBe('PAUSED')
    expect(host.agent('hand').snapshot().reason).toBe('generated')
    expect((await api.agents.resume('hand', {})).data.phase).toBe('ACTIVE')
    expect((await api.agents.ask('hand', { command: 'ping' })).data).toBe('pong')
    await expect(api.agents.get('hnad')).rejects.toMatchObject({ status: 404, error: { code: 'NoSuchAgent' } })
  })
})
