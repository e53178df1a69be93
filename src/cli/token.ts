/** `holt token create NAME [--access A] [--expires-in TIME]`, `holt token list`, `holt token revoke ID` */
import { ACCESSES } from '../model/access.ts'
import { HoltError } from '../model/error.ts'
import { createdTokenLines, tokenLines } from './format/tokens.ts'
import type { Invocation, Run } from './invocation.ts'
import { duration } from './moment.ts'

export const token: Run = async (invocation) => {
  const [verb, word] = invocation.args
  if (verb === 'create') return create(invocation, word)
  if (verb === 'list') return list(invocation, word)
  if (verb === 'revoke') return revoke(invocation, word)
  throw wrong(`expected create, list or revoke, found '${verb}'`)
}

const create = async ({ options, client, print }: Invocation, name: string | undefined): Promise<undefined> => {
  if (name === undefined) throw wrong('expected a name after create')
  const { access, expiresIn } = options
  const known = ACCESSES.find((one) => one === access)
  if (access !== undefined && known === undefined)
    throw wrong(`--access: expected ${ACCESSES.join(', ')}, found '${access}'`)
  const expiresInMs = expiresIn === undefined ? undefined : duration('--expires-in', expiresIn)
  const made = await (await client()).tokenCreate(name, { access: known, expiresInMs })
  await print(made, (look) => createdTokenLines(made, look))
}

const list = async ({ client, io, print }: Invocation, word: string | undefined): Promise<undefined> => {
  if (word !== undefined) throw wrong(`expected nothing after list, found '${word}'`)
  const tokens = await (await client()).tokens()
  await print(tokens, (look) => tokenLines(tokens, io.now(), look))
}

const revoke = async ({ client, print }: Invocation, id: string | undefined): Promise<undefined> => {
  if (id === undefined) throw wrong('expected the id of a token after revoke')
  const gone = await (await client()).tokenRevoke(id)
  await print(gone, () => [`${gone.id} ('${gone.name}') is revoked: it opens nothing from now on`])
}

const wrong = (text: string): HoltError =>
  new HoltError('InvalidOption', text, { next: 'see how it is written: holt token --help' })
