/** What a stream of the table sends as events: cursors, names, a snapshot first where one is asked for. */
import type { Host } from '../../host/host.ts'
import { HoltError } from '../../model/error.ts'
import type { Fact } from '../../model/fact.ts'
import { eventText, type SentEvent } from './event-stream.ts'
import type { Form } from './form.ts'
import type { Said } from './routes.ts'

/** Of the query, for the stream itself and not for its operation. */
const SNAPSHOT = 'snapshot'
/** A cursor that is none of ours is as one of another log: the client is told, and gets all there is. */
const UNKNOWN = Number.MAX_SAFE_INTEGER

export interface Resumed {
  readonly said: Said
  readonly snapshot: boolean
}

/** `Last-Event-ID` goes before `?since=`: a browser comes back to the address it was given at first. */
export function resumed(said: Said, lastEventId: string | undefined): Resumed {
  const { [SNAPSHOT]: asked, ...query } = said.query
  if (asked !== undefined && !['true', 'false'].includes(asked.join()))
    throw new HoltError('InvalidInput', `snapshot: expected true or false, found '${asked.join().slice(0, 40)}'`)
  const snapshot = asked?.[0] === 'true'
  if (lastEventId === undefined || lastEventId === '') return { said: { ...said, query }, snapshot }
  const since = /^\d{1,15}$/.test(lastEventId) ? lastEventId : String(UNKNOWN)
  return { said: { ...said, query: { ...query, since: [since] } }, snapshot }
}

/** How the fleet stands, or one agent, and the cursor that goes with it. */
export function snapshotText(host: Host, id: unknown, form: Form): string {
  const value = typeof id === 'string' ? host.agent(id).snapshot() : host.fleet()
  return eventText({ id: host.cursor, event: 'snapshot', data: form.writeLoosely(value) })
}

/**
 * The text of each value. Clients that watch the same get the same facts: each is written out once for all of them.
 * @param name of the operation
 */
export function textsOf(name: string, form: Form): (value: unknown) => string {
  if (name !== 'watch') return (value) => eventText({ event: name, data: form.writeLoosely(value) })
  const texts = TEXTS.get(form) ?? new WeakMap<object, string>()
  TEXTS.set(form, texts)
  return (value) => {
    const fact = value as Fact
    const known = texts.get(fact)
    if (known !== undefined) return known
    const text = eventText(eventOf(fact, form))
    texts.set(fact, text)
    return text
  }
}

const TEXTS = new Map<Form, WeakMap<object, string>>()

const eventOf = (fact: Fact, form: Form): SentEvent => ({
  id: fact.seq,
  event: fact.kind,
  data: form.writeLoosely(fact),
})
