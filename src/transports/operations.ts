/**
 * The operations: the one table from which the socket, REST, OpenAPI and the CLI's help are made. A row says what goes in
 * and out, who may, where REST has it and how the CLI writes it; `run` is one line down into the host. To add an
 * ability: in `host/` first, then a row in `operations/`.
 */
import type { Operation } from './operation.ts'
import { COMMANDING } from './operations/commanding.ts'
import { INSPECTING } from './operations/inspecting.ts'
import { INSTALLING } from './operations/installing.ts'
import { LOOKING } from './operations/looking.ts'
import { SENDING } from './operations/sending.ts'
import { TOKENS } from './operations/tokens.ts'

/** Every operation, in the order in which help lists them. */
export const OPERATIONS: readonly Operation[] = [
  ...LOOKING,
  ...COMMANDING,
  ...SENDING,
  ...INSTALLING,
  ...INSPECTING,
  ...TOKENS,
]
