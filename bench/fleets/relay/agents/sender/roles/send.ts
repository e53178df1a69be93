/**
 * Sends to `receiver`: a flood of events, a ball by `tell`, and asks one after the other. The like of
 * bench/peers/relay-worker.mjs.
 */
import { defineRole } from 'holt/role'

/** Every so many events it waits for the fate of the one so many before: what it sends has a bound, and none is dropped. */
const STRIDE = 4096

const payloadOf = (n: number): { n: number; text: string } => ({ n, text: 'hello' })

let rounds = 0

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'send',
  events: {
    async serve(last: number, ctx) {
      rounds = last
      ctx.tell('receiver', 'ball', payloadOf(1))
    },
    async ball({ n }: { n: number; text: string }, ctx) {
      // The last one comes home; the line tells the program, which cannot be sent to.
      if (n === rounds) ctx.log.info('played', n)
      else ctx.tell('receiver', 'ball', payloadOf(n + 1))
    },
  },
  commands: {
    flood: {
      summary: 'Sends so many events',
      async handle(count: number, ctx) {
        let held: Promise<unknown> = Promise.resolve()
        for (let n = 1; n <= count; n++) {
          if (n % STRIDE === 0) {
            await held
            held = ctx.emit('receiver', 'add', payloadOf(n))
          } else if (!ctx.tell('receiver', 'add', payloadOf(n))) throw new Error(`tell was refused at ${n}`)
        }
        await held
      },
    },
    asks: {
      summary: 'Asks so often, one after the other',
      async handle(count: number, ctx) {
        let right = 0
        for (let n = 0; n < count; n++) if ((await ctx.ask('receiver', 'echo', n)) === n) right++
        return right
      },
    },
  },
})
