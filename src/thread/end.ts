/**
 * The way out of a thread. Taken before any role is loaded: one that puts its own function in the place of
 * `process.exit`, or throws while it listens for `exit`, ends all the same.
 */
const exit = process.exit.bind(process)
const { reallyExit } = process as unknown as { reallyExit(code: number): never }

/** Ends this thread; listeners of `exit` are called first. */
export function endThread(code: number): never {
  try {
    exit(code)
  } catch {
    // From then on the platform takes no more errors, and would go on.
  }
  return reallyExit.call(process, code)
}
