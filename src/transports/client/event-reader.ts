/** Server-sent events out of pieces of bytes, cut anywhere. Used by the client over HTTP. */
export interface ReadEvent {
  readonly event: string
  readonly data: string
}

export class EventReader {
  readonly #decoder = new TextDecoder()
  #held = ''

  /** The events that this piece completes; comments are none. */
  read(piece: Uint8Array): ReadEvent[] {
    this.#held += this.#decoder.decode(piece, { stream: true })
    const blocks = this.#held.split('\n\n')
    this.#held = blocks.pop() ?? ''
    return blocks.flatMap((block) => eventOf(block) ?? [])
  }
}

function eventOf(block: string): ReadEvent | null {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+): ?(.*)$/s.exec(line) ?? []
    if (field === 'event') event = value!
    else if (field === 'data') data.push(value!)
  }
  return data.length === 0 ? null : { event, data: data.join('\n') }
}
