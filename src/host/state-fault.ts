/** What a fleet says of a state that cannot be saved. */
import type { FleetSnapshot } from '../model/snapshot.ts'
import type { StoreHealth } from '../store/writer.ts'

export function stateFaultOf(health: StoreHealth): FleetSnapshot['host']['stateFault'] {
  if (health.state === 'ok') return null
  const { code, message } = health.reason
  return { code, text: message, since: health.since }
}
