/**
 * The stemmer of M. F. Porter, "An algorithm for suffix stripping" (1980), with the two departures of his own later
 * code (`bli` for `abli`, and `logi`). Pure. Lower-case ASCII words only: the caller sees to that.
 */
const CONSONANTS = '[^aeiou][^aeiouy]*'
const VOWELS = '[aeiouy][aeiou]*'

/** Porter's m, the number of vowel-consonant sequences in a stem: above 0, exactly 1, above 1. */
const M_ABOVE_0 = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}`)
const M_IS_1 = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}(?:${VOWELS})?$`)
const M_ABOVE_1 = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`)
const HAS_VOWEL = new RegExp(`^(?:${CONSONANTS})?[aeiouy]`)
/** m = 1 and an end like `hop` or `fil`, where an e was lost or must stay. */
const SHORT = new RegExp(`^${CONSONANTS}[aeiouy][^aeiouwxy]$`)
const DOUBLED = /([^aeiouylsz])\1$/

const STEP_2 = table(
  'ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous ization>ize ' +
    'ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble logi>log',
)
const STEP_3 = table('icate>ic ative> alize>al iciti>ic ical>ic ful> ness>')
const STEP_4 = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|(?<=[st])ion|ou|ism|ate|iti|ous|ive|ize)$/

/** Suffixes and what takes their place. The lazy stem makes the longest suffix win. */
function table(rows: string): { readonly pattern: RegExp; readonly to: ReadonlyMap<string, string> } {
  const to = new Map(rows.split(' ').map((row) => row.split('>') as [string, string]))
  return { pattern: new RegExp(`^(.+?)(${[...to.keys()].join('|')})$`), to }
}

function swap(word: string, { pattern, to }: ReturnType<typeof table>): string {
  const [, stem = '', suffix = ''] = pattern.exec(word) ?? []
  return M_ABOVE_0.test(stem) ? stem + to.get(suffix) : word
}

/** Steps 1a to 1c: plurals, -ed, -ing, and a final y. */
function inflections(word: string): string {
  let stem = word.replace(/(ss|i)es$/, '$1').replace(/([^s])s$/, '$1')
  if (stem.endsWith('eed')) {
    if (M_ABOVE_0.test(stem.slice(0, -3))) stem = stem.slice(0, -1)
  } else {
    const [, root = ''] = /^(.+)(?:ed|ing)$/.exec(stem) ?? []
    if (HAS_VOWEL.test(root)) stem = restoreEnd(root)
  }
  return /y$/.test(stem) && HAS_VOWEL.test(stem.slice(0, -1)) ? `${stem.slice(0, -1)}i` : stem
}

/** The end of a word that has lost its -ed or -ing. */
function restoreEnd(root: string): string {
  if (/(?:at|bl|iz)$/.test(root)) return `${root}e`
  if (DOUBLED.test(root)) return root.slice(0, -1)
  return SHORT.test(root) ? `${root}e` : root
}

/** Step 4: what is left of a suffix after a long stem. */
function residue(word: string): string {
  const [, stem = ''] = STEP_4.exec(word) ?? []
  return M_ABOVE_1.test(stem) ? stem : word
}

/** Step 5: a final e, and a double l. */
function tidy(word: string): string {
  let stem = word
  if (stem.endsWith('e')) {
    const root = stem.slice(0, -1)
    if (M_ABOVE_1.test(root) || (M_IS_1.test(root) && !SHORT.test(root))) stem = root
  }
  return stem.endsWith('ll') && M_ABOVE_1.test(stem) ? stem.slice(0, -1) : stem
}

/** The stem of a word: `supervisors`, `supervisor` and `supervised` become one. */
export function stem(word: string): string {
  if (word.length < 3) return word
  // A y that begins a word is a consonant; its capital keeps it from being read as a vowel.
  const marked = word.startsWith('y') ? `Y${word.slice(1)}` : word
  return tidy(residue(swap(swap(inflections(marked), STEP_2), STEP_3))).toLowerCase()
}
