/**
 * Table `agents`: the intent of each agent and its epoch. Both are asked for at every turn of the host, so what has been
 * committed is kept in memory beside the table.
 */
import { type Admission, type Intent, type IntentChange, type IntentRecord, nextIntent } from '../model/intent.ts'
import { isCurrent } from '../model/lease.ts'
import type { Connection } from './connection.ts'
import { refusal } from './faults.ts'
import { integer, maybe, text, word } from './rows.ts'

const INTENT = {
  intent: word<Intent>(),
  admission: word<Admission>(),
  generation: integer,
  wantedBy: text,
  reason: maybe(text),
  wantedAt: integer,
  pausedSince: maybe(integer),
  pausedBy: maybe(text),
  pausedReason: maybe(text),
}
const EPOCH = { epoch: integer }
const AGENT = { agent: text, version: maybe(text), ...EPOCH }
const FLOOR = 'epoch_floor'

/** What is known of an agent besides its intent. */
export interface AgentRow {
  readonly agent: string
  readonly epoch: number
  readonly version: string | null
}

export interface IntentCondition {
  /** Commit only where this is the present generation; 0: nobody has wanted anything yet. @default any */
  readonly ifGeneration?: number
}

const UPSERT_INTENT = `
INSERT INTO agents (agent, intent, admission, generation, wanted_by, reason, wanted_at, paused_since, paused_by, paused_reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent) DO UPDATE SET intent = excluded.intent, admission = excluded.admission,
  generation = excluded.generation, wanted_by = excluded.wanted_by, reason = excluded.reason,
  wanted_at = excluded.wanted_at, paused_since = excluded.paused_since, paused_by = excluded.paused_by,
  paused_reason = excluded.paused_reason`

export class Agents {
  readonly #intents = new Map<string, IntentRecord>()
  readonly #epochs = new Map<string, number>()
  /** Where an instance boots beside another: the epoch of that, which alone is heard until the hand-over. */
  readonly #inForce = new Map<string, number>()
  readonly #afterCommit: (call: () => void) => void
  readonly #readIntent
  readonly #readEpoch
  readonly #readFloor
  readonly #list
  readonly #writeIntent
  readonly #writeEpoch
  readonly #writeVersion
  readonly #raiseFloor
  readonly #remove

  constructor(connection: Connection, afterCommit: (call: () => void) => void) {
    this.#afterCommit = afterCommit
    this.#readIntent = connection.query(INTENT, 'FROM agents WHERE agent = ? AND intent IS NOT NULL')
    this.#readEpoch = connection.query(EPOCH, 'FROM agents WHERE agent = ?')
    this.#readFloor = connection.query({ value: integer }, `FROM meta WHERE name = '${FLOOR}'`)
    this.#list = connection.query(AGENT, 'FROM agents ORDER BY agent')
    this.#writeIntent = connection.change(UPSERT_INTENT)
    this.#writeEpoch = connection.insert(
      'agents',
      ['agent', 'epoch'],
      'ON CONFLICT (agent) DO UPDATE SET epoch = excluded.epoch',
    )
    this.#writeVersion = connection.insert(
      'agents',
      ['agent', 'version'],
      'ON CONFLICT (agent) DO UPDATE SET version = excluded.version',
    )
    this.#raiseFloor = connection.insert(
      'meta',
      ['name', 'value'],
      'ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)',
    )
    this.#remove = connection.change('DELETE FROM agents WHERE agent = ?')
    this.#load(connection)
  }

  /** The committed intent, from memory. */
  intent(agent: string): IntentRecord | undefined {
    return this.#intents.get(agent)
  }

  /** The committed epoch, from memory; 0 before the first. */
  epoch(agent: string): number {
    return this.#epochs.get(agent) ?? 0
  }

  /** By name. */
  list(): readonly AgentRow[] {
    return this.#list.all()
  }

  /**
   * @returns the record that follows, in force once it is committed
   * @throws HoltError `GenerationMismatch`, naming the present one
   */
  changeIntent(agent: string, change: IntentChange, { ifGeneration }: IntentCondition = {}): IntentRecord {
    const row = this.#readIntent.get(agent)
    const previous = row === undefined ? undefined : intentOf(row)
    const generation = previous?.generation ?? 0
    if (ifGeneration !== undefined && ifGeneration !== generation) throw mismatch(agent, ifGeneration, previous)
    const next = nextIntent(previous, change, 'stopped')
    this.#writeIntent.run(
      ...[agent, next.intent, next.admission, next.generation, next.by, next.reason, next.at],
      ...[next.pausedSince, next.pausedBy, next.pausedReason],
    )
    this.#afterCommit(() => this.#intents.set(agent, next))
    return next
  }

  /** Higher than any before for that agent, also where it had been removed. */
  nextEpoch(agent: string): number {
    this.#inForce.delete(agent)
    const epoch = Math.max(this.#presentEpoch(agent), this.#floor()) + 1
    this.#writeEpoch.run(agent, epoch)
    this.#afterCommit(() => this.#epochs.set(agent, epoch))
    return epoch
  }

  /** The next one, which is not in force before {@link bringIntoForce}: until then only the present one may write. */
  nextEpochBeside(agent: string): number {
    const present = this.#inForce.get(agent) ?? this.#presentEpoch(agent)
    const epoch = this.nextEpoch(agent)
    this.#inForce.set(agent, present)
    return epoch
  }

  /** Only the newest epoch may write from now on. */
  bringIntoForce(agent: string): void {
    this.#inForce.delete(agent)
  }

  /** All epochs from now on are higher than this. */
  raiseEpochs(floor: number): void {
    this.#raiseFloor.run(FLOOR, floor)
  }

  /**
   * @param epoch of the instance that writes; undefined: the host itself
   * @throws HoltError `StaleEpoch`, naming the present one
   */
  fence(agent: string, epoch: number | undefined): void {
    if (epoch === undefined) return
    const current = this.#inForce.get(agent) ?? this.#presentEpoch(agent)
    if (isCurrent(epoch, current)) return
    const text = `Epoch ${epoch} of agent '${agent}' is not in force, epoch ${current} is: what it writes is refused`
    throw refusal('StaleEpoch', text, { agent, epoch, current })
  }

  setVersion(agent: string, version: string): void {
    this.#writeVersion.run(agent, version)
  }

  /** Its epochs are not given again to another of the same name. */
  remove(agent: string): void {
    this.raiseEpochs(this.#presentEpoch(agent))
    this.#remove.run(agent)
    this.#afterCommit(() => {
      this.#intents.delete(agent)
      this.#epochs.delete(agent)
    })
  }

  /** As the transaction has it. */
  #presentEpoch(agent: string): number {
    return this.#readEpoch.get(agent)?.epoch ?? 0
  }

  #floor(): number {
    return this.#readFloor.get()?.value ?? 0
  }

  #load(connection: Connection): void {
    const intents = connection.query({ agent: text, ...INTENT }, 'FROM agents WHERE intent IS NOT NULL')
    for (const { agent, ...row } of intents.all()) this.#intents.set(agent, intentOf(row))
    for (const { agent, epoch } of this.#list.all()) this.#epochs.set(agent, epoch)
  }
}

type IntentRow = Omit<IntentRecord, 'by' | 'at'> & { readonly wantedBy: string; readonly wantedAt: number }

const intentOf = ({ wantedBy, wantedAt, ...row }: IntentRow): IntentRecord => ({ ...row, by: wantedBy, at: wantedAt })

function mismatch(agent: string, expected: number, present: IntentRecord | undefined) {
  const found =
    present === undefined
      ? 'generation 0: nobody has wanted anything of it yet'
      : `generation ${present.generation}: ${present.intent} and ${present.admission}, last wanted by ${present.by}`
  const text = `Expected generation ${expected} of agent '${agent}', found ${found}. Look at it and decide again`
  return refusal('GenerationMismatch', text, { agent, expected, found: present?.generation ?? 0 })
}
