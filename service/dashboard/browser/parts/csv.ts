export type Cell = string | number | null | undefined

/** A table as a file; RFC 4180, with the mark that makes Excel read it as Unicode. */
export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  const text = `\uFEFF${rows.map((row) => row.map(toCell).join(',')).join('\r\n')}\r\n`
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `coinslot-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.csv`
  link.click()
  // The browser has taken the file by the time that its next turn comes.
  setTimeout(() => URL.revokeObjectURL(address), 1_000)
}

function toCell(value: Cell): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  // What a stranger wrote must not become a formula in somebody's spreadsheet.
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
