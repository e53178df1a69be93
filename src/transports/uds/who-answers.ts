/** Who listens at a socket that is not ours, as far as it says: for the refusal to take its place. */
import { describeError } from '../../model/error.ts'
import { connect } from '../client/client.ts'

const ASK_MS = 1000

export async function whoAnswers(path: string): Promise<string> {
  try {
    const client = await connect({ path, timeoutMs: ASK_MS })
    try {
      const { host } = (await client.call('status')) as {
        readonly host?: { readonly id?: unknown; readonly pid?: unknown }
      }
      return `host ${host?.id} answers there (process ${host?.pid})`
    } finally {
      client.close()
    }
  } catch (error) {
    return `something listens there, and did not say what it is (${describeError(error).message})`
  }
}
