/** The JSON argument of `emit` and `ask`. Shells eat quotes, so a refusal says how to write it. */
import { HoltError } from '../model/error.ts'

const MAX_SHOWN = 60

/**
 * The value of the text.
 * @throws HoltError `InvalidInput` saying what is wrong and how to quote it
 */
export function payloadOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
    throw new HoltError(
      'InvalidInput',
      `expected JSON, found ${shown === '' ? 'an empty text' : shown} (${(error as Error).message})`,
      {
        next: quotingHint(text),
      },
    )
  }
}

function quotingHint(text: string): string {
  if (/^\s*[{[]/.test(text))
    return `the shell takes quotes away; put the whole in single quotes: '{"q":"backpressure"}'`
  return `a text needs quotes of its own within those of the shell: '"${text.slice(0, MAX_SHOWN).replaceAll("'", '')}"'`
}
