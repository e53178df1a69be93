/** Any actor of the works: becomes what it is told, and handles messages as that. */
import { defineRole } from 'holt/role'
import { actorOf } from '../../../../../savina/behaviours.mjs'

let handle = actorOf('counter')
let ids: Readonly<Record<string, string>> = {}

// biome-ignore lint/style/noDefaultExport: the default export is the contract of a role
export default defineRole({
  name: 'act',
  events: {
    async m(message: unknown, ctx) {
      handle(message, (to, sent) => {
        if (to === 'main') ctx.log.info('told', sent)
        else if (!ctx.tell(ids[to]!, 'm', sent)) throw new Error(`tell was refused by '${to}'`)
      })
    },
  },
  commands: {
    become: {
      summary: 'Becomes an actor of that kind',
      handle: (given: { kind: string; ids: Readonly<Record<string, string>> }) => {
        handle = actorOf(given.kind)
        ids = given.ids
      },
    },
  },
})
