/** One figure of a benchmark's table. */
export interface Figure {
  /** What was measured: the table's first word, and the cells before the first figure. */
  row: string
  column: string
  value: number
}

/**
 * The figures in a benchmark's output that say how fast something is: how many a second, and the median time. Rarer
 * percentiles and the memory of one run say too little to compare two commits.
 */
export function figuresOf(output: string): Figure[] {
  const figures: Figure[] = []
  let columns: string[] = []
  let isHeading = true
  for (const line of output.split('\n')) {
    const cells = cellsOf(line)
    if (cells === null) isHeading = true
    else if (cells.every((cell) => /^:?-+:?$/.test(cell))) isHeading = false
    else if (isHeading) {
      columns = cells
      isHeading = false
    } else figures.push(...figuresIn(cells, columns))
  }
  return figures
}

function figuresIn(cells: readonly string[], columns: readonly string[]): Figure[] {
  const first = columns.findIndex(isCompared)
  if (first < 1) return []
  const row = [columns[0] ?? '', ...cells.slice(0, first)].join(', ')
  return columns.flatMap((column, at) => {
    const value = Number(cells[at])
    return isCompared(column) && cells[at] !== '' && value > 0 ? [{ row, column, value }] : []
  })
}

function cellsOf(line: string): string[] | null {
  const trimmed = line.trim()
  if (!trimmed.startsWith('|') || !trimmed.endsWith('|')) return null
  return trimmed
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())
}

const isCompared = (column: string): boolean => isRate(column) || /(^|\s)p50 ms$/.test(column)

/** Of a rate more is better, of a time less. */
export function isRate(column: string): boolean {
  return column === 'a second' || column.endsWith('/s')
}
