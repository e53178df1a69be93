/** Marks of files that change with each write to them, to see later whether they still are what was read. */
import { stateOf } from './compile-plugin.ts'

const GONE = 'gone'

/** By path; also of files that are not there. */
export async function statesOf(files: Iterable<string>): Promise<Map<string, string>> {
  const paths = [...files]
  const states = await Promise.all(paths.map((path) => stateOf(path).catch(() => GONE)))
  return new Map(paths.map((path, index) => [path, states[index]!]))
}

/** Whether any of them is not what it was. */
export async function haveChanged(files: ReadonlyMap<string, string>): Promise<boolean> {
  const now = await statesOf(files.keys())
  return [...files].some(([path, state]) => now.get(path) !== state)
}
