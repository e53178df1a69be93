/** `holt dead-letters [ID]`, `holt dead-letters replay LETTER`, `holt dead-letters discard LETTER` */
import { HoltError } from '../model/error.ts'
import { fateLines, forecastLines } from './format/answer.ts'
import { deadLetterLines } from './format/dead-letters.ts'
import type { Run } from './invocation.ts'

const VERBS = ['replay', 'discard'] as const

export const deadLetters: Run = async ({ args, options, client, print }) => {
  const [first, letter] = args
  const verb = VERBS.find((one) => one === first)
  if (verb === undefined) {
    if (letter !== undefined) throw wrong(`expected ${VERBS.join(' or ')} before '${letter}', found '${first}'`)
    const letters = await (await client()).deadLetters(first, { before: options.before, limit: options.limit })
    await print(letters, (look) => deadLetterLines(letters, look))
    return undefined
  }
  const number = Number(letter)
  if (!Number.isSafeInteger(number) || number < 1)
    throw wrong(`${verb}: expected the number of a dead letter, found ${letter === undefined ? 'none' : `'${letter}'`}`)
  const answer = await (await client())[verb](number, { dryRun: options.dryRun })
  await print(answer, (look) => {
    if ('dryRun' in answer) return forecastLines(answer, look)
    return 'fate' in answer ? fateLines(answer, look) : [`${number} discarded`]
  })
  return undefined
}

const wrong = (text: string): HoltError =>
  new HoltError('InvalidOption', text, { next: 'see how it is written: holt dead-letters --help' })
