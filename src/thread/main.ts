/**
 * The bootstrap of a thread, and the only file that knows `parentPort`. Bundled into one small file; it imports neither
 * rxjs nor zod nor anything of the host. Its life: the first message hands it credential, ports and recorder; it proves
 * its identity; it loads what it is told; it works until it is told to end, or dies and says why.
 */
import { type MessagePort, parentPort, resourceLimits } from 'node:worker_threads'
import { describeError } from '../model/error.ts'
import { FlightRecorder } from '../model/flight-recorder.ts'
import { HEADROOM } from '../model/heap.ts'
import { type FromThread, type Init, type ToThread, WIRE_VERSION } from '../model/wire.ts'
import { mountCapabilities } from './capabilities.ts'
import { ContextFactory } from './context.ts'
import { endThread } from './end.ts'
import { watchFatal } from './fatal.ts'
import { startHeartbeat } from './heartbeat.ts'
import { Histograms } from './histograms.ts'
import { importModule } from './import-module.ts'
import { LiveHeap } from './live-heap.ts'
import { createLogger } from './log.ts'
import { Loop } from './loop.ts'
import { Outbox } from './outbox.ts'
import { captureOutput } from './output.ts'
import { profile } from './profiler.ts'
import { prove } from './prove.ts'
import { checkNeeds, loadRoles } from './roles.ts'
import { warmUp } from './warm-up.ts'

/** A thread without a parent is of no use to anyone. */
const control: MessagePort = parentPort ?? process.exit(1)
const send = control.postMessage.bind(control)
const post = (message: FromThread): void => send(message)
// A library that posts to its parent, as some do in any worker, would speak to the host in its name.
control.postMessage = () => {
  throw new Error('the parentPort of an agent is not for its roles: use ctx.tell, ctx.emit or ctx.ask')
}

// A stack names the lines that were written, not those of the bundle.
process.setSourceMapsEnabled(true)
let begun = false
control.once('message', (init: Init) => {
  begun = true
  begin(init)
})
// In the second turn from here: a thread that was started for an agent has its first message by then, and is not held up.
setImmediate(() =>
  setImmediate(() => {
    if (!begun) warmUp()
  }),
)

function begin(init: Init): void {
  for (const key of Object.keys(process.env)) delete process.env[key]
  Object.assign(process.env, init.env)
  const recorder = new FlightRecorder(init.recorder, init.concurrency)
  captureOutput(recorder, post)
  const heap = new LiveHeap((resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY) / HEADROOM)
  const pulse = startHeartbeat(recorder, init.heartbeatMs, heap)
  const outbox = new Outbox(init.agent, recorder, init.data)
  const fatal = watchFatal(post, outbox)
  const loop = new Loop({ recorder, outbox, histograms: new Histograms(post), post, fatal, pulse })
  control.on('message', (message: ToThread) => obey(init, loop, outbox, message))
  init.data.on('message', (message) => {
    if (message.type === 'batch') outbox.gather(() => loop.take(message))
    else outbox.onAnswers(message)
  })
  post({ type: 'proof', version: WIRE_VERSION, proof: prove(init) })
}

function obey(init: Init, loop: Loop, outbox: Outbox, message: ToThread): void {
  switch (message.type) {
    case 'init':
      return
    case 'load':
      void load(init, loop, outbox, message)
      return
    case 'pause':
      return loop.pause(message.n)
    case 'resume':
      return loop.resume()
    case 'abort':
      return loop.abort(message.seqs, message.reason)
    case 'challenge':
      return post({ type: 'proof', version: WIRE_VERSION, proof: prove({ ...init, nonce: message.nonce }) })
    case 'stop':
      return loop.stop()
    case 'profile':
      void profile(message, post)
      return
    default:
      message satisfies never
  }
}

async function load(init: Init, loop: Loop, outbox: Outbox, order: Extract<ToThread, { type: 'load' }>): Promise<void> {
  let step: Extract<FromThread, { type: 'refused' }>['step'] = 'roles'
  try {
    const roles = await loadRoles(order.roles)
    step = 'needs'
    checkNeeds(roles, order.mounts)
    step = 'capabilities'
    const log = createLogger(post)
    const mounted = await mountCapabilities(init.lend, order.mounts, importModule, log)
    loop.equip(roles, new ContextFactory(init, outbox, log, mounted, () => loop.stopSelf()), mounted)
    post({ type: 'handlers', names: roles.handlers, counts: roles.counts })
    post({ type: 'ready', roles: roles.infos })
  } catch (error) {
    post({ type: 'refused', step, error: describeError(error) })
    endThread(1)
  }
}
