/**
 * The gate: what an agent still lacks. The host asks it before a thread starts (does every granted capability and
 * method exist?) and once the roles are known (is every need mounted?). Pure: it decides and words; who refuses, and
 * with which error, is the caller's affair.
 */
import { nearest } from '../model/nearest.ts'

/** What a manifest grants: these methods of this capability, and no others. */
export interface Grant {
  readonly id: string
  readonly allow: readonly string[]
}

/** What the host has to offer. */
export interface Offer {
  readonly id: string
  readonly methods: readonly string[]
  /** Why it cannot be lent now. Absent: it can. */
  readonly unavailable?: string
}

/** One thing that is missing, with its own sentence. */
export interface Missing {
  readonly capability: string
  readonly method?: string
  /** The role that needs it, where a role does. */
  readonly role?: string
  readonly suggestion?: string
  readonly sentence: string
}

const quoted = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '))
const didYouMean = (suggestion: string | undefined): string =>
  suggestion === undefined ? '' : ` Did you mean '${suggestion}'?`

function lacking(subject: Omit<Missing, 'sentence' | 'suggestion'>, text: string, suggestion?: string): Missing {
  const sentence = `${text}${didYouMean(suggestion)}`
  return suggestion === undefined ? { ...subject, sentence } : { ...subject, suggestion, sentence }
}

function missingOf(grant: Grant, offers: ReadonlyMap<string, Offer>): Missing[] {
  const capability = grant.id
  const offer = offers.get(capability)
  if (offer === undefined) {
    const known = [...offers.keys()]
    return [
      lacking(
        { capability },
        `capability '${capability}' does not exist (there is: ${quoted(known)}).`,
        nearest(capability, known),
      ),
    ]
  }
  if (offer.unavailable !== undefined) {
    return [lacking({ capability }, `capability '${capability}' is unavailable: ${offer.unavailable}`)]
  }
  return grant.allow
    .filter((method) => !offer.methods.includes(method))
    .map((method) =>
      lacking(
        { capability, method },
        `capability '${capability}' has no method '${method}' (it offers: ${quoted(offer.methods)}).`,
        nearest(method, offer.methods),
      ),
    )
}

/** Everything that is granted and not offered, in the order of the grants. Empty: the gate is open. */
export function missing(grants: readonly Grant[], offered: readonly Offer[]): Missing[] {
  const offers = new Map(offered.map((offer) => [offer.id, offer]))
  return grants.flatMap((grant) => missingOf(grant, offers))
}

/** Everything a role needs and nobody mounted. */
export function missingNeeds(
  roles: readonly { readonly name: string; readonly needs: readonly string[] }[],
  mounted: readonly string[],
): Missing[] {
  return roles.flatMap(({ name: role, needs }) =>
    needs
      .filter((capability) => !mounted.includes(capability))
      .map((capability) =>
        lacking(
          { capability, role },
          `role '${role}' needs capability '${capability}', which is not granted (granted: ${quoted(mounted)}). Grant it in agent.yml.`,
          nearest(capability, mounted),
        ),
      ),
  )
}

/** All of it as one text for people. */
export function sentenceOf(list: readonly Missing[]): string {
  if (list.length <= 1) return list.map(({ sentence }) => sentence).join('')
  return `${list.length} things are missing: ${list.map(({ sentence }, index) => `(${index + 1}) ${sentence}`).join(' ')}`
}
