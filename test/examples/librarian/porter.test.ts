import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stem } from '../../../examples/librarian/capabilities/porter.ts'

/** The examples of Porter's paper, rule by rule, and some words of our own. */
const PAIRS: Readonly<Record<string, string>> = {
  '1a': 'caresses>caress ponies>poni ties>ti caress>caress cats>cat',
  '1b':
    'feed>feed agreed>agre plastered>plaster bled>bled motoring>motor sing>sing conflated>conflat troubled>troubl ' +
    'sized>size hopping>hop tanned>tan falling>fall hissing>hiss fizzed>fizz failing>fail filing>file',
  '1c': 'happy>happi sky>sky',
  '2':
    'relational>relat conditional>condit rational>ration valenci>valenc hesitanci>hesit digitizer>digit ' +
    'conformabli>conform radicalli>radic differentli>differ vileli>vile analogousli>analog ' +
    'vietnamization>vietnam predication>predic operator>oper feudalism>feudal decisiveness>decis ' +
    'hopefulness>hope callousness>callous formaliti>formal sensitiviti>sensit sensibiliti>sensibl apologi>apolog',
  '3':
    'triplicate>triplic formative>form formalize>formal electriciti>electr electrical>electr hopeful>hope ' +
    'goodness>good',
  '4':
    'revival>reviv allowance>allow inference>infer airliner>airlin gyroscopic>gyroscop adjustable>adjust ' +
    'defensible>defens irritant>irrit replacement>replac adjustment>adjust dependent>depend adoption>adopt ' +
    'homologou>homolog communism>commun activate>activ angulariti>angular homologous>homolog effective>effect ' +
    'bowdlerize>bowdler',
  '5': 'probate>probat rate>rate cease>ceas controll>control roll>roll',
  'a y that begins a word': 'yes>ye yelling>yell yearly>yearli young>young',
  'short words': 'as>as is>is a>a by>by',
  'our own': 'supervisors>supervisor supervised>supervis threads>thread workers>worker parsing>pars queries>queri',
}

describe('stem', () => {
  for (const [step, rows] of Object.entries(PAIRS)) {
    test(`step ${step}`, () => {
      const pairs = rows.split(' ').map((row) => row.split('>'))
      expect(pairs.map(([word = '']) => [word, stem(word)])).toEqual(pairs)
    })
  }

  test('is never empty, and never longer than the word', () => {
    const words = fc.string({ unit: fc.constantFrom(...'abcdeilnostyz'), minLength: 1, maxLength: 14 })
    fc.assert(
      fc.property(words, (word) => {
        const { length } = stem(word)
        expect(length).toBeGreaterThan(0)
        expect(length).toBeLessThanOrEqual(word.length)
      }),
    )
  })
})
