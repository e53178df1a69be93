#!/usr/bin/env node
/** The command `holt`, in the process it is run in. It never ends the process: what is printed arrives whole. */
import { processIo } from './process-io.ts'
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), processIo())
