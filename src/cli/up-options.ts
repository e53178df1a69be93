/** What `holt up` was told about HTTP, as options of `serve`. Pure. */
import { HoltError } from '../model/error.ts'
import type { RestOptions } from '../transports/rest/options.ts'
import type { Options } from './invocation.ts'

/**
 * Null: no HTTP.
 * @throws HoltError `InvalidOption`
 */
export function restOf(options: Options): RestOptions | null {
  const { rest, port, listen, allowHost, cors, rateLimit } = options
  const asked = {
    '--port': port,
    '--listen': listen,
    '--allow-host': allowHost,
    '--cors': cors,
    '--rate-limit': rateLimit,
  }
  const given = Object.entries(asked).flatMap(([flag, value]) => (value === undefined ? [] : [flag]))
  if (rest === false) {
    if (given.length > 0) throw wrong(`--no-rest: expected nothing about HTTP beside it, found ${given.join(', ')}`)
    return null
  }
  if (port !== undefined && listen !== undefined) throw wrong('expected --port or --listen, found both')
  return {
    ...(port === undefined ? {} : { port }),
    ...(listen === undefined ? {} : placeOf(listen)),
    ...(allowHost === undefined ? {} : { allowHosts: allowHost.split(',') }),
    ...(cors === undefined ? {} : { corsOrigins: cors.split(',') }),
    ...(rateLimit === undefined ? {} : { requestsPerSecond: rateLimit }),
  }
}

/** `127.0.0.1:8000`, `[::1]:8000`, `0.0.0.0:8000` */
function placeOf(text: string): { readonly address: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(text) ?? []
  const address = bracketed ?? plain
  if (address === undefined) throw wrong(`--listen: expected HOST:PORT, as 0.0.0.0:8000 or [::1]:8000, found '${text}'`)
  return { address, port: Number(port) }
}

const wrong = (text: string): HoltError =>
  new HoltError('InvalidOption', text, { next: 'see how it is written: holt up --help' })
