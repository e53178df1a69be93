/** What the test knows: what it has asked for, what was answered, and so what must hold after the host is back. */
import type { DeathRecord } from '../../src/model/death.ts'
import type { Intent } from '../../src/model/intent.ts'
import type { AgentSnapshot } from '../../src/model/snapshot.ts'

export interface Entry {
  readonly sender: string
  readonly n: number
}

interface Wanted {
  /** What the last answered command has committed. */
  answered: Pick<AgentSnapshot, 'intent' | 'admission' | 'generation'> | null
  /** Intents of commands that were asked for and not answered: one of them may be in force as well. */
  open: Intent[]
}

const key = ({ sender, n }: Entry): string => `${sender}/${n}`

export class Journal {
  /** Events that were answered as accepted. */
  readonly accepted = new Set<string>()
  /** Events whose answer never came. */
  readonly open = new Set<string>()
  readonly wanted = new Map<string, Wanted>()
  readonly epochs = new Map<string, number>()
  /** Instances that were seen alive, by agent. */
  readonly seen = new Map<string, Set<string>>()
  accepts = 0
  commands = 0

  sent(entry: Entry): void {
    this.open.add(key(entry))
  }

  answered(entry: Entry, fate: string): void {
    this.open.delete(key(entry))
    if (fate !== 'handled' && fate !== 'queued') return
    this.accepts++
    this.accepted.add(key(entry))
  }

  want(agent: string): Wanted {
    const wanted = this.wanted.get(agent) ?? { answered: null, open: [] }
    this.wanted.set(agent, wanted)
    return wanted
  }

  alive({ id, instance }: Pick<AgentSnapshot, 'id' | 'instance'>): void {
    if (instance === null) return
    const seen = this.seen.get(id) ?? new Set<string>()
    this.seen.set(id, seen.add(instance.id))
  }

  // --- what must hold ----------------------------------------------------------------------------------------------

  /** Faults of the fleet as it stands after a crash. */
  checkFleet(agents: readonly AgentSnapshot[], deaths: readonly DeathRecord[]): string[] {
    return agents.flatMap((agent) => [
      ...this.#checkIntent(agent),
      ...this.#checkEpoch(agent),
      ...this.#checkDeaths(agent, deaths),
    ])
  }

  #checkIntent({ id, intent, admission, generation }: AgentSnapshot): string[] {
    const { answered, open } = this.want(id)
    if (answered === null) return []
    const same = intent === answered.intent && admission === answered.admission
    if (generation < answered.generation)
      return [`${id}: generation ${generation}, and ${answered.generation} was answered`]
    if (generation === answered.generation && !same)
      return [`${id}: intent ${intent}/${admission}, answered was ${answered.intent}/${answered.admission}`]
    if (generation > answered.generation && open.length === 0)
      return [`${id}: generation ${generation}, the last answered was ${answered.generation} and nothing was open`]
    return []
  }

  #checkEpoch({ id, instance }: AgentSnapshot): string[] {
    if (instance === null) return []
    const before = this.epochs.get(id) ?? 0
    this.epochs.set(id, instance.epoch)
    return instance.epoch > before ? [] : [`${id}: epoch ${instance.epoch} after ${before}`]
  }

  /** Each instance that was seen has exactly one death by now, unless it is the one that lives. */
  #checkDeaths({ id, instance }: AgentSnapshot, deaths: readonly DeathRecord[]): string[] {
    const seen = this.seen.get(id) ?? new Set<string>()
    const faults = [...seen].flatMap((one) => {
      const records = deaths.filter((death) => death.instance === one)
      const wanted = one === instance?.id ? 0 : 1
      return records.length === wanted
        ? []
        : [`${id}: instance ${one} has ${records.length} deaths, expected ${wanted}`]
    })
    this.seen.delete(id)
    return faults
  }

  /** Faults of what was handled: each accepted event exactly once, no other twice, each sender's in order. */
  checkLog(log: readonly Entry[]): string[] {
    const counts = new Map<string, number>()
    const last = new Map<string, number>()
    const faults: string[] = []
    for (const entry of log) {
      counts.set(key(entry), (counts.get(key(entry)) ?? 0) + 1)
      if (entry.n <= (last.get(entry.sender) ?? -1)) faults.push(`${key(entry)} came after ${last.get(entry.sender)}`)
      last.set(entry.sender, entry.n)
    }
    for (const [one, count] of counts) if (count > 1) faults.push(`${one} had its effect ${count} times`)
    for (const one of this.accepted) if (!counts.has(one)) faults.push(`${one} was accepted and is lost`)
    return faults
  }
}
