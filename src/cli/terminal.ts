/** What a stream of the process is shown on: its width, and whether it may have colour. */
import type { Look } from './format/text.ts'

const WIDTH_WHEN_PIPED = 80

/** Colour on a terminal that knows it, and not against NO_COLOR (no-color.org). */
export function lookOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Look {
  const colour = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return { width: stream.columns || WIDTH_WHEN_PIPED, colour }
}
