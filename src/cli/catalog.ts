/** `holt catalog [list]`, `holt catalog install PATH`, `holt catalog uninstall NAME` */
import { resolve } from 'node:path'
import { ERRORS, type ErrorCode, HoltError } from '../model/error.ts'
import { catalogLines, installLines, uninstallLines } from './format/catalog.ts'
import type { Invocation, Run } from './invocation.ts'

type Verb = (invocation: Invocation, word: string) => Promise<number | undefined>

const VERBS: Readonly<Record<'install' | 'uninstall', Verb>> = {
  install: async ({ options, client, io, print }, path) => {
    const source = resolve(io.cwd, path)
    const asked = (await client()).install(source, { dryRun: options.dryRun })
    const answer = await asked.catch(advise)
    await print(answer, (look) => installLines(answer, look))
    // It is installed; that it does not run is what a script has to know.
    return answer.notStarted === null ? undefined : ERRORS.BootFailed.exit
  },
  uninstall: async ({ options, client, print }, name) => {
    const asked = (await client()).uninstall(name, { dryRun: options.dryRun })
    const answer = await asked.catch(advise)
    await print(answer, (look) => uninstallLines(answer, look))
    return undefined
  },
}

export const catalog: Run = async (invocation) => {
  const [verb = 'list', word] = invocation.args
  if (verb === 'install' || verb === 'uninstall') {
    if (word !== undefined) return VERBS[verb](invocation, word)
    throw wrong(`expected ${verb === 'install' ? 'a folder or a tarball' : 'the name of an agent'} after ${verb}`)
  }
  if (verb !== 'list') throw wrong(`expected list, install or uninstall, found '${verb}'`)
  if (word !== undefined) throw wrong(`expected nothing after list, found '${word}'`)
  const items = await (await invocation.client()).catalog()
  await invocation.print(items, (look) => catalogLines(items, look))
  return undefined
}

const MEND = 'nothing has changed: mend that, then install it again'
const NEXT: Readonly<Partial<Record<ErrorCode, string>>> = {
  InvalidManifest: MEND,
  BootFailed: MEND,
  NoSuchAgent: 'see what is installed: holt catalog list',
}

/** What to do next is another thing here than after other commands. */
function advise(error: unknown): never {
  const next = error instanceof HoltError ? NEXT[error.code] : undefined
  if (next === undefined) throw error
  const { code, message, details, cause } = error as HoltError
  throw new HoltError(code, message, { ...details, next }, cause)
}

const wrong = (text: string): HoltError =>
  new HoltError('InvalidOption', text, { next: 'see how it is written: holt catalog --help' })
