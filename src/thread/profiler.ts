/** A CPU profile of this thread, begun and ended when the host says so. Loaded with the first one; costs nothing before. */
import type { Session } from 'node:inspector'
import type { FromThread, ToThread } from '../model/wire.ts'

let session: Session | null = null

/** Answers once, with the profile as JSON at its end, or why there is none. */
export async function profile(
  { n, on }: Extract<ToThread, { type: 'profile' }>,
  post: (message: FromThread) => void,
): Promise<void> {
  try {
    if (on) {
      await begin()
      post({ type: 'profiled', n })
    } else post({ type: 'profiled', n, profile: await end() })
  } catch (error) {
    post({ type: 'profiled', n, error: error instanceof Error ? error.message : String(error) })
  }
}

async function begin(): Promise<void> {
  // One whose end was not waited for.
  session?.disconnect()
  const inspector = await import('node:inspector')
  session = new inspector.Session()
  session.connect()
  await said('Profiler.enable')
  await said('Profiler.start')
}

async function end(): Promise<string> {
  if (session === null) throw new Error('no profile was begun')
  const { profile: found } = (await said('Profiler.stop')) as { readonly profile: unknown }
  session.disconnect()
  session = null
  return JSON.stringify(found)
}

const said = (method: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    session!.post(method, (error: Error | null, result?: object) => (error === null ? resolve(result) : reject(error)))
  })
