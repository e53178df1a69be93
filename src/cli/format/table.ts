/**
 * Rows as columns that fit a width. Columns are as wide as what is in them; where that is too much, those that may
 * shrink give way, the widest first, and what no longer fits ends in an ellipsis.
 */
import { type Colour, paint } from './colour.ts'
import { clean, cut, type Look, pad, widthOf } from './text.ts'

export interface Column {
  readonly title: string
  /** Figures stand at the right. @default false */
  readonly right?: boolean
  /** Fewest columns it may shrink to; without it, it keeps its width. */
  readonly least?: number
}

export type Cell = string | { readonly text: string; readonly colour: Colour | undefined }

const GAP = '  '

const textOf = (cell: Cell | undefined): string =>
  clean(cell === undefined || typeof cell === 'string' ? (cell ?? '') : cell.text)

/** The title and the rows, none wider than the look allows. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], look: Look): string[] {
  const texts = rows.map((row) => columns.map((_, i) => textOf(row[i])))
  const natural = columns.map(({ title }, i) => Math.max(title.length, ...texts.map((row) => widthOf(row[i]!))))
  const widths = widthsFor(columns, natural, look.width)
  // What is too wide even when shrunk is cut at the end, and then without colour: a cut might fall into a sequence.
  const fits = total(widths) <= look.width
  const line = (cells: readonly string[], colourOf: (i: number) => Colour | undefined): string => {
    const painted = cells.map((text, i) => {
      const width = widths[i]!
      const last = i === cells.length - 1 && columns[i]!.right !== true
      return paint(
        last ? cut(text, width) : pad(cut(text, width), width, columns[i]!.right),
        colourOf(i),
        fits && look.colour,
      )
    })
    return fits ? painted.join(GAP).trimEnd() : cut(painted.join(GAP), look.width)
  }
  const head = line(
    columns.map(({ title }) => title),
    () => 'bold',
  )
  const body = texts.map((cells, r) =>
    line(cells, (i) => {
      const cell = rows[r]![i]
      return typeof cell === 'object' ? cell.colour : undefined
    }),
  )
  return [head, ...body]
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, w) => sum + w, 0) + GAP.length * (widths.length - 1)

function widthsFor(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  const least = columns.map(({ least: floor }, i) => Math.min(natural[i]!, floor ?? natural[i]!))
  let over = total(widths) - width
  while (over > 0) {
    const shrinkable = widths.map((w, i) => (w > least[i]! ? w : 0))
    const widest = Math.max(...shrinkable)
    if (widest === 0) break
    widths[shrinkable.lastIndexOf(widest)]!--
    over--
  }
  return widths
}
