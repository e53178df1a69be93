/**
 * The inbox of an agent whose messages are traced: each send has a span, and what is handed over carries that span's
 * `traceparent`. Handed down to agents by `agents.ts` in place of the plain one, only where there is a tracer.
 */
import { Inbox } from '../actors/inbox.ts'
import type { Link } from '../actors/pump.ts'
import type { AskOptions, Fate, SendOptions } from '../model/message.ts'
import type { MessageSpan, Traces } from './traces.ts'

/** `tell` answers false and nothing was buried: the message was given back. */
const GIVEN_BACK: Fate = { fate: 'dropped', reason: 'rejected' }

export function tracedInbox(traces: Traces): typeof Inbox {
  return class TracedInbox extends Inbox {
    readonly #of: string
    #instance: string | undefined

    constructor(...parts: ConstructorParameters<typeof Inbox>) {
      super(...parts)
      this.#of = parts[0]
    }

    override attach(link: Link): void {
      this.#instance = link.id
      super.attach(link)
    }

    override tell(name: string, payload: unknown, options?: SendOptions, from?: string): boolean {
      const span = this.#begin(name, options, from)
      if (span === null) return super.tell(name, payload, options, from)
      try {
        const accepted = super.tell(name, payload, span.carriedBy(options), from, this.#told(span))
        if (!accepted) span.ended(GIVEN_BACK, undefined)
        return accepted
      } catch (error) {
        span.failed(error, undefined)
        throw error
      }
    }

    override async emit(name: string, payload: unknown, options?: SendOptions, from?: string): Promise<Fate> {
      const span = this.#begin(name, options, from)
      if (span === null) return super.emit(name, payload, options, from)
      try {
        // What is queued has its fate later.
        return await super.emit(name, payload, span.carriedBy(options), from, this.#told(span))
      } catch (error) {
        span.failed(error, undefined)
        throw error
      }
    }

    override async ask(name: string, payload: unknown, options?: AskOptions, from?: string): Promise<unknown> {
      const span = traces.ask({ agent: this.#of, name, options, from })
      if (span === null) return super.ask(name, payload, options, from)
      try {
        const reply = await super.ask(name, payload, span.carriedBy(options), from)
        span.replied(this.#instance)
        return reply
      } catch (error) {
        span.failed(error, this.#instance)
        throw error
      }
    }

    /** Null also for one that is not taken a second time. */
    #begin(name: string, options: SendOptions | undefined, from: string | undefined): MessageSpan | null {
      const messageId = options?.messageId
      if (messageId !== undefined && this.options.durable && this.journal.knows(messageId)) return null
      return traces.event({ agent: this.#of, name, options, from, messageId })
    }

    #told(span: MessageSpan): ((fate: Fate) => void) | undefined {
      return span.isRecording ? (fate) => span.ended(fate, this.#instance) : undefined
    }
  }
}
