export type Send = (to: string, message: unknown) => void
/** A new actor of that kind: handles a message. */
export declare function actorOf(kind: string): (message: unknown, send: Send) => void
