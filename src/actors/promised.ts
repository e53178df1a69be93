/**
 * What `work` returns as a promise, which rejects with what it throws. As an async function, but a promise is handed on as
 * it is: an async function wraps it in another, which costs as much as the rest of an ask.
 */
export function promised<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    const result = work()
    return result instanceof Promise ? result : Promise.resolve(result)
  } catch (error) {
    return Promise.reject(error)
  }
}
