/** A document as text, before it has a place on a page. */
export interface Paper {
  title: string
  /** Becomes the file's date, so that one document is always the same file. */
  date: string
  rows: readonly Row[]
}

/** Cells beside each other. A page ends between rows. */
export interface Row {
  cells: readonly Cell[]
  /** The space above it, in points. */
  gap: number
  /** A line above it. */
  rule: boolean
}

export interface Cell {
  text: string
  /** Its left edge and its width, as parts of the page's text width. */
  at: number
  width: number
  align: 'left' | 'right'
  size: number
  bold: boolean
  quiet: boolean
  /** What does not fit into so many lines is cut off. */
  linesMax: number
}
