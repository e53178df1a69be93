// The actors of the works, after the Savina actor benchmarks (Imam and Sarkar, 2014): plain functions from a message to
// what is sent, so that every actor library runs the same. `send(to, message)`; what goes to 'main' is for who measures.

/** @type {Record<string, () => (message: any, send: (to: string, message: unknown) => void) => void>} */
const KINDS = {
  counter() {
    let count = 0
    return (message, send) => {
      if (message.type === 'total') send('main', count)
      else count++
    }
  },

  pinger() {
    let left = 0
    let answered = 0
    return (message, send) => {
      if (message.type === 'start') left = message.count
      else answered++
      if (left-- === 0) send('main', answered)
      else send(message.to ?? message.from, { type: 'ping', from: 'pinger' })
    }
  },

  ponger() {
    return (message, send) => send(message.from, { type: 'pong', from: 'ponger' })
  },

  node() {
    return (message, send) => {
      if (message.hops === 0) send('main', 0)
      else send(message.ring[message.hops % message.ring.length], { ring: message.ring, hops: message.hops - 1 })
    }
  },

  // Pings another, one after the other by a fixed step, and goes on when it is answered.
  big() {
    let left = 0
    let answered = 0
    let all = []
    let at = 0
    let self = ''
    const next = (send) => {
      at = (at + 7) % all.length
      if (all[at] === self) at = (at + 1) % all.length
      send(all[at], { type: 'ping', from: self })
    }
    return (message, send) => {
      if (message.type === 'start') {
        ;({ count: left, all, self } = message)
        next(send)
      } else if (message.type === 'ping') send(message.from, { type: 'pong' })
      else {
        answered++
        if (--left === 0) send('main', answered)
        else next(send)
      }
    }
  },

  // Lets two creatures meet at a time.
  mall() {
    let left = 0
    let waiting = null
    return (message, send) => {
      if (message.type === 'start') left = message.count
      else if (left === 0) send(message.from, { type: 'closed' })
      else if (waiting === null) waiting = message
      else {
        left--
        send(waiting.from, { type: 'met', colour: message.colour })
        send(message.from, { type: 'met', colour: waiting.colour })
        waiting = null
        if (left === 0) return
      }
    }
  },

  creature() {
    let met = 0
    let colour = 0
    let self = ''
    return (message, send) => {
      if (message.type === 'start') {
        ;({ colour, self } = message)
      } else if (message.type === 'met') {
        met++
        colour = colour === message.colour ? colour : 3 - colour - message.colour
      } else return send('main', met)
      send('mall', { type: 'meet', from: self, colour })
    }
  },
}

export const actorOf = (kind) => KINDS[kind]()
