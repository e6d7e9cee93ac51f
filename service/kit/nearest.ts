/**
 * The name that was probably meant: it differs by one or two typing mistakes, for short names by one. Null when there
 * is none, or when the text is longer than names are. Each name takes at most its length times the few allowed
 * mistakes, and most take a few characters.
 */
export function nearest(text: string, names: Iterable<string>): string | null {
  if (text.length === 0 || text.length > LONGEST) return null
  const written = text.toLowerCase()
  let best: string | null = null
  let within = slipsOf(text)
  let looked = 0
  for (const name of names) {
    if (++looked > MOST) break
    if (name.length > LONGEST || name === text) continue
    const slips = distance(written, name.toLowerCase(), within)
    if (slips > within) continue
    best = name
    within = slips - 1
    if (within < 0) break
  }
  return best
}

/** The sentence to add after the fault. */
export function didYouMean(name: string | null): string {
  return name === null ? '' : ` Did you mean ${name}?`
}

const LONGEST = 80
const MOST = 20_000

/** Among names of three letters, most are only two typing mistakes apart. */
function slipsOf({ length }: string): number {
  if (length <= 2) return 0
  return length <= 5 ? 1 : 2 + (length > 12 ? 1 : 0)
}

/**
 * The number of letters to insert, delete, change or swap. Any number above `most` counts as `most + 1`. Only three
 * rows are stored.
 */
function distance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const present = new Array<number>(other.length + 1).fill(most + 1)
    present[0] = row
    let least = row
    for (let at = Math.max(1, row - most); at <= Math.min(other.length, row + most); at++) {
      const isSame = one[row - 1] === other[at - 1]
      let slips = Math.min(cell(last, at) + 1, cell(present, at - 1) + 1, cell(last, at - 1) + (isSame ? 0 : 1))
      if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]) {
        slips = Math.min(slips, cell(beforeLast, at - 2) + 1)
      }
      present[at] = slips
      least = Math.min(least, slips)
    }
    if (least > most) return most + 1
    beforeLast = last
    last = present
  }
  return cell(last, other.length)
}

function cell(row: readonly number[], at: number): number {
  return row[at] ?? LONGEST
}
