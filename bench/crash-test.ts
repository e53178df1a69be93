/**
 * `npm run crash-test -- [ROUNDS] [SEED]`: a real host is driven by random commands and durable events, killed with -9 at a
 * random instant, started again and asked what it still knows. 200 rounds; some begin with an empty state, so that the kill
 * falls into its making, some install into the catalog meanwhile. Ends with 1 where anything that was answered is lost.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DeathRecord } from '../src/model/death.ts'
import type { Command } from '../src/model/intent.ts'
import type { AgentSnapshot, FleetSnapshot } from '../src/model/snapshot.ts'
import type { Why } from '../src/model/view.ts'
import type { Client } from '../src/transports/client/client.ts'
import { HostProcess } from './crash/host-process.ts'
import { type Entry, Journal } from './crash/journal.ts'
import { Random } from './crash/random.ts'

const FLEET = fileURLToPath(new URL('./fleets/crash', import.meta.url))
const INSTALLED = fileURLToPath(new URL('./fleets/mortal/agents/mortal', import.meta.url))
const SENDERS = ['a', 'b', 'c'] as const
/** At most so long after it is up, or has been started, a host is killed. */
const LIVES_MS = 400
const PATIENT_MS = 60_000
const REFUSALS = ['InvalidCommand', 'AgentBusy']
const LOST = ['NoHost', 'Aborted', 'Timeout']
const COMMANDS: readonly Command[] = ['stop', 'suspend', 'pause', 'resume', 'start', 'activate', 'restart', 'kill']

interface Place {
  readonly dir: string
  readonly journal: Journal
  next: Record<string, number>
}

const newPlace = (): Place => ({ dir: mkdtempSync(join(tmpdir(), 'holt-crash-')), journal: new Journal(), next: {} })
const start = ({ dir }: Place): HostProcess => new HostProcess(FLEET, join(dir, 'state'), join(dir, 'socket'))

/** Drives one host until it is killed. */
class Driver {
  readonly #client: Client
  readonly #place: Place
  readonly #random: Random
  #over = false

  constructor(client: Client, place: Place, random: Random) {
    this.#client = client
    this.#place = place
    this.#random = random
  }

  async drive(install: boolean): Promise<void> {
    const lanes = [...SENDERS.map((sender) => this.#send(sender)), this.#command('idler'), this.#command('ledger')]
    if (install) lanes.push(this.#client.call('install', [INSTALLED]).then(() => {}))
    await Promise.all(lanes.map((lane) => lane.catch(() => {})))
  }

  stop(): void {
    this.#over = true
    this.#client.close()
  }

  /** A few at a time without waiting in between: their order is that of the calls. */
  async #send(sender: string): Promise<void> {
    const { journal, next } = this.#place
    while (!this.#over) {
      const calls = Array.from({ length: 1 + this.#random.below(8) }, async () => {
        const n = next[sender] ?? 0
        next[sender] = n + 1
        const entry: Entry = { sender, n }
        journal.sent(entry)
        const { fate } = (await this.#client.call('emit', ['ledger', 'add', entry])) as { fate: string }
        journal.answered(entry, fate)
      })
      await Promise.all(calls)
    }
  }

  async #command(agent: string): Promise<void> {
    const { journal } = this.#place
    while (!this.#over) {
      await wait(this.#random.below(30))
      const verb = this.#random.pick(COMMANDS)
      const wanted = journal.want(agent)
      wanted.open.push('running')
      try {
        const answer = (await this.#client.call(verb, [agent])) as AgentSnapshot
        journal.commands++
        wanted.answered = answer
        wanted.open = []
        journal.alive(answer)
      } catch (error) {
        // A refusal has committed nothing; what was pre-empted, failed to boot, or was never answered may have.
        const code = (error as { code?: string }).code ?? ''
        if (REFUSALS.includes(code)) wanted.open.pop()
        if (LOST.includes(code)) return
      }
    }
  }
}

/** All that the ledger has written down. */
async function readLog(client: Client): Promise<Entry[]> {
  const log: Entry[] = []
  for (;;) {
    const ask = client.call('ask', ['ledger', 'page', log.length], { timeoutMs: PATIENT_MS }, { timeoutMs: PATIENT_MS })
    const page = (await ask) as { readonly value: Entry }[]
    if (page.length === 0) return log
    log.push(...page.map(({ value }) => value))
  }
}

/** Everything is let run, so that what waits is handled; then the books are compared. */
async function check(client: Client, { journal }: Place): Promise<string[]> {
  const fleet = (await client.call('status')) as FleetSnapshot
  const deaths = (await client.call('deaths')) as DeathRecord[]
  const faults = journal.checkFleet(
    fleet.agents.filter(({ id }) => id === 'ledger' || id === 'idler'),
    deaths,
  )
  const ledger = fleet.agents.find(({ id }) => id === 'ledger')!
  if (ledger.admission === 'cordoned') await client.call('resume', ['ledger'])
  if (ledger.intent !== 'running') await client.call('start', ['ledger'])
  for (let waited = 0; waited < 30_000; waited += 20) {
    const { mailbox, phase, nextRestartAt } = (await client.call('get', ['ledger'])) as AgentSnapshot
    // A host that is killed again and again holds its agents back.
    if (nextRestartAt !== null) await client.call('restart', ['ledger'])
    if (phase === 'ACTIVE' && mailbox.depth === 0 && mailbox.inFlight === 0) break
    await wait(20)
  }
  faults.push(...journal.checkLog(await readLog(client)))
  const again = (await client.call('status')) as FleetSnapshot
  for (const agent of again.agents) {
    const wanted = journal.want(agent.id)
    wanted.answered = agent
    wanted.open = []
    journal.alive(agent)
  }
  return faults
}

/** What failed, and what the host has to say of it. */
async function told(client: Client, error: Error): Promise<string> {
  const { phase, mailbox, intent, admission } = (await client.call('get', ['ledger'])) as AgentSnapshot
  const { sentences } = (await client.call('why', ['ledger'])) as Why
  return JSON.stringify({ failed: error.message, phase, mailbox, intent, admission, why: sentences })
}

async function round(place: Place, random: Random, fresh: boolean): Promise<string[]> {
  const host = start(place)
  if (fresh && random.next() < 0.5) {
    // Before it is up: in the middle of its first files.
    await wait(random.below(LIVES_MS))
    await host.kill()
  } else {
    const client = await host.client()
    const driver = new Driver(client, place, random)
    const driving = driver.drive(random.next() < 0.2)
    await wait(random.below(LIVES_MS))
    await host.kill()
    driver.stop()
    await driving
  }
  const after = start(place)
  try {
    const client = await after.client()
    const faults = await check(client, place).catch(async (error: Error) => [await told(client, error)])
    client.close()
    return faults
  } finally {
    await after.kill()
  }
}

async function main(): Promise<number> {
  const rounds = Number(process.argv[2] ?? 200)
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31)
  process.stdout.write(`crash test: ${rounds} rounds, seed ${seed}\n`)
  let faulty = 0
  let place = newPlace()
  const total = { accepted: 0, commands: 0 }
  const count = (): void => {
    total.accepted += place.journal.accepts
    total.commands += place.journal.commands
    rmSync(place.dir, { recursive: true, force: true })
  }
  for (let n = 0; n < rounds; n++) {
    const random = new Random(seed + n)
    const fresh = n % 10 === 0
    if (fresh && n > 0) {
      count()
      place = newPlace()
    }
    const faults = await round(place, random, fresh).catch((error: Error) => [`round failed: ${error.message}`])
    if (faults.length === 0) continue
    faulty++
    process.stdout.write(`round ${n + 1} (seed ${seed + n}): ${faults.slice(0, 10).join('; ')}\n`)
    count()
    place = newPlace()
  }
  count()
  process.stdout.write(
    `${rounds} rounds, ${faulty} with faults; ${total.accepted} durable events accepted, ${total.commands} commands answered\n`,
  )
  return faulty === 0 ? 0 : 1
}

process.exitCode = await main()
