/** A server in a process of its own that may open few files. Run by descriptors.test.ts: prints its log, a line each. */
import { createLog } from '../../../src/platform/log.ts'
import { listen } from '../../../src/transports/uds/server.ts'
import { PlayedService } from '../played-service.ts'

const log = createLog('debug', { write: (line) => void process.stdout.write(line) })
await listen({ path: process.argv[2]!, service: new PlayedService(), log })
process.stdout.write('{"msg":"listening"}\n')
