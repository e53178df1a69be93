/** Imports one compiled module of an agent, and says which file it was when that fails. */
import { fileURLToPath } from 'node:url'
import { describeError, HoltError } from '../model/error.ts'
import type { ModuleSource } from '../model/wire.ts'

/** @throws HoltError `BootFailed`, naming the file; the module's own error is the cause */
export async function importModule({ url, file }: ModuleSource): Promise<{ readonly default?: unknown }> {
  try {
    return url.endsWith('.cjs') ? required(url) : await import(url)
  } catch (error) {
    const { message } = describeError(error)
    throw new HoltError('BootFailed', `${file} threw while it was imported: ${message}`, { file }, error)
  }
}

/** Read in one step; the platform's loader of ES modules stays unloaded where nothing else asks for it. */
function required(url: string): { readonly default?: unknown } {
  const found = process.getBuiltinModule('node:module').createRequire(url)(fileURLToPath(url))
  // What was an ES module says so; of any other the whole is the default, as for an import.
  return found?.__esModule === true ? found : { default: found }
}
