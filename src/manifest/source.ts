/**
 * A manifest before it is checked: its value, and where in the file each part of it stands. Made by yaml.ts from a
 * file and by plain.ts from an object; read by check.ts and the loaders, which need not know which it was.
 */
import { type Fault, type Finding, fieldOf, type Path } from './fault.ts'

export interface Place {
  readonly line: number
  readonly column: number
}

/** A scalar that other YAML readers take for something else; refused where nothing else is wrong with it. */
export interface Doubt extends Finding {
  readonly path: Path
}

export interface Source {
  /** Path of the file, or what the object is. */
  readonly file: string
  /** Where this manifest stands in a larger one; empty for a file of its own. */
  readonly prefix: Path
  /** Undefined: it could not be read, and `faults` says why. */
  readonly value: unknown
  readonly faults: readonly Fault[]
  readonly doubts: readonly Doubt[]
  /** Where a field (or its key) stands; null for an object. */
  place(path: Path, part: 'key' | 'value'): Place | null
  /** The text of a scalar as written. */
  written(path: Path): string | undefined
}

export function faultAt(source: Source, path: Path, finding: Finding, part: 'key' | 'value' = 'value'): Fault {
  const place = source.place(path, part)
  return {
    file: source.file,
    line: place?.line ?? null,
    column: place?.column ?? null,
    field: fieldOf([...source.prefix, ...path]),
    expected: finding.expected,
    found: finding.found,
    ...(finding.hint === undefined ? {} : { hint: finding.hint }),
  }
}

/** A source that could not be read at all. */
export function unreadable(file: string, faults: readonly Fault[]): Source {
  return { file, prefix: [], value: undefined, faults, doubts: [], place: () => null, written: () => undefined }
}

/** A part of a source as a manifest of its own. */
export function part(source: Source, path: Path, value: unknown): Source {
  const name = fieldOf([...source.prefix, ...path])
  return {
    file: source.file,
    prefix: [...source.prefix, ...path],
    value,
    faults: source.faults.filter(({ field }) => field.startsWith(`${name}.`) || field.startsWith(`${name}[`)),
    doubts: [],
    place: (inner, what) => source.place([...path, ...inner], what),
    written: (inner) => source.written([...path, ...inner]),
  }
}

/** `file:line:column`, or the file and the field for an object. */
export function placeText(source: Source, path: Path): string {
  const place = source.place(path, 'value')
  return place === null
    ? `${source.file} ${fieldOf([...source.prefix, ...path])}`
    : `${source.file}:${place.line}:${place.column}`
}
