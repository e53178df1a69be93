/** Dead letters as an operator has them: listed, sent again under their own id, or thrown away. */
import type { Directory } from '../actors/directory.ts'
import { HoltError } from '../model/error.ts'
import type { DeadLetter, Fate } from '../model/message.ts'
import { decodeBody } from '../model/payload.ts'
import type { StoredDeadLetter } from '../store/dead-letters.ts'
import type { Store } from '../store/store.ts'
import { restoreBody } from '../store/stored-body.ts'
import type { Records } from './records.ts'

export interface DeadLetterPage {
  /** Those with a lower id. @default the newest */
  readonly before?: number
  /** @default 100 */
  readonly limit?: number
}

export class DeadLetterOffice {
  readonly #store: Store
  readonly #records: Records
  readonly #directory: Directory

  constructor(store: Store, records: Records, directory: Directory) {
    this.#store = store
    this.#records = records
    this.#directory = directory
  }

  /** Of one agent or of all, a page of the newest, the newest at the end. */
  async list(agent?: string, page: DeadLetterPage = {}): Promise<DeadLetter[]> {
    await this.#records.flush()
    return this.#store.deadLetters.list(agent, page).map(readable)
  }

  /** @throws HoltError `NoSuchDeadLetter` */
  async get(id: number): Promise<DeadLetter> {
    return readable(await this.#get(id))
  }

  /**
   * Sends it again to its agent, as an event under the id it had, with its deliveries counted; it is a dead letter no more.
   * @throws HoltError `NoSuchDeadLetter`; `NoSuchAgent`; `InvalidInput` for an ask: nobody waits for its reply any more
   */
  async replay(id: number): Promise<Fate> {
    const letter = await this.#get(id)
    if (letter.kind === 'ask')
      throw new HoltError(
        'InvalidInput',
        `dead letter ${id} is an ask '${letter.name}': nobody waits for its reply any more. Ask again`,
      )
    const { inbox } = this.#directory.get(letter.agent)
    const options = letter.messageId === null ? {} : { messageId: letter.messageId }
    const fate = await inbox.emit(
      letter.name,
      decodeBody(restoreBody(letter.payload)),
      options,
      letter.from ?? undefined,
    )
    await this.#store.write((tx) => tx.deadLetters.remove(id))
    return fate
  }

  /** @throws HoltError `NoSuchDeadLetter` */
  async discard(id: number): Promise<DeadLetter> {
    const letter = await this.#get(id)
    await this.#store.write((tx) => tx.deadLetters.remove(id))
    return readable(letter)
  }

  async #get(id: number): Promise<StoredDeadLetter> {
    await this.#records.flush()
    const letter = this.#store.deadLetters.get(id)
    if (letter !== undefined) return letter
    throw new HoltError(
      'NoSuchDeadLetter',
      `there is no dead letter ${id}: it was sent again, discarded, or gave way to newer ones`,
      { id },
    )
  }
}

const readable = ({
  from,
  deathId,
  payload,
  messageId: _,
  replayedAt: __,
  ...letter
}: StoredDeadLetter): DeadLetter => ({
  ...letter,
  payload: decodeBody(restoreBody(payload)),
  ...(from === null ? {} : { from }),
  ...(deathId === null ? {} : { deathId }),
})
