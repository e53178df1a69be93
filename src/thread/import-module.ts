/** Imports one compiled module of an agent, and says which file it was when that fails. */
import { describeError, HoltError } from '../model/error.ts'
import type { ModuleSource } from '../model/wire.ts'

/** @throws HoltError `BootFailed`, naming the file; the module's own error is the cause */
export async function importModule({ url, file }: ModuleSource): Promise<{ readonly default?: unknown }> {
  try {
    return await import(url)
  } catch (error) {
    const { message } = describeError(error)
    throw new HoltError('BootFailed', `${file} threw while it was imported: ${message}`, { file }, error)
  }
}
