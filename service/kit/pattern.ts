/**
 * A regular expression from one party, run on a text from another. JavaScript's own engine tries one path after
 * another, and a pattern can make it try for years. This engine follows all paths at once, so its time is at most the
 * pattern's length times the text's. Patterns that cannot be run this way (lookaround, backreferences) are refused.
 */
export interface Pattern {
  /** The work of matching this text: its length times that of the pattern. */
  work(text: string): number
  /** Whether the whole text matches, as with the `pattern` of an HTML form. */
  matches(text: string): boolean
}

/** The pattern, or why it is refused, as the rest of a sentence: "must …". */
export function parsePattern(source: string): Pattern | string {
  if (source.length > SOURCE_MAX) return `must have at most ${String(SOURCE_MAX)} characters`
  try {
    // JavaScript's own parser checks the syntax. The expression it makes is never run; only single characters are
    // tested with it.
    new RegExp(source, 'u')
  } catch {
    return 'must be a regular expression'
  }
  try {
    const program = compile(new Reader(source).read())
    const each = program.steps.length + program.atoms.length
    return { work: (text) => each * text.length, matches: (text) => run(program, Array.from(text)) }
  } catch (error) {
    if (error instanceof Unsupported) return error.message
    throw error
  }
}

const SOURCE_MAX = 256

/**
 * The limit on what all patterns of one request may take: a tenth of a second. Pattern and text come from outside, and
 * all other requests wait during the match.
 */
export class PatternBudget {
  #left = WORK_MAX
  /** Whether a text was not matched because the budget was used up. */
  isSpent = false

  /** Null when the text is too long for the rest of the budget. */
  matches(pattern: Pattern, text: string): boolean | null {
    this.#left -= pattern.work(text)
    if (this.#left >= 0) return pattern.matches(text)
    this.isSpent = true
    return null
  }
}

const WORK_MAX = 3_000_000
const STEPS_MAX = 2_000

type Node =
  | { kind: 'atom'; source: string }
  | { kind: 'edge'; at: 'start' | 'end' }
  | { kind: 'all'; of: readonly Node[] }
  | { kind: 'either'; of: readonly Node[] }
  | { kind: 'repeat'; of: Node; least: number; most: number }

class Unsupported extends Error {}

/** Parses a pattern that JavaScript's parser has accepted, so it does not check the syntax again. */
class Reader {
  private at = 0
  private readonly source: readonly string[]

  constructor(source: string) {
    this.source = Array.from(source)
  }

  read(): Node {
    const ways = [this.sequence()]
    while (this.source[this.at] === '|') {
      this.at++
      ways.push(this.sequence())
    }
    return ways.length === 1 && ways[0] !== undefined ? ways[0] : { kind: 'either', of: ways }
  }

  private sequence(): Node {
    const parts: Node[] = []
    for (
      let next = this.source[this.at];
      next !== undefined && next !== '|' && next !== ')';
      next = this.source[this.at]
    )
      parts.push(this.quantified(this.part(next)))
    return { kind: 'all', of: parts }
  }

  private part(next: string): Node {
    if (next === '(') return this.group()
    if (next === '^' || next === '$') {
      this.at++
      return { kind: 'edge', at: next === '^' ? 'start' : 'end' }
    }
    if (next === '[') return this.taken(this.endOfClass())
    if (next === '\\') return this.taken(this.endOfEscape())
    return this.taken(this.at + 1)
  }

  private group(): Node {
    this.at++
    if (this.source[this.at] === '?') {
      const opening = this.rest(3)
      if (/^\?(=|!|<=|<!)/.test(opening)) throw new Unsupported('must not look ahead or behind, as (?= and (?! do')
      if (opening.startsWith('?<')) this.at = this.source.indexOf('>', this.at) + 1
      else if (opening.startsWith('?:')) this.at += 2
      else throw new Unsupported('must not change its flags in a group')
    }
    const inner = this.read()
    this.at++
    return inner
  }

  private quantified(of: Node): Node {
    const [least, most, length] = this.quantifier()
    if (length === 0) return of
    this.at += length
    // Lazy or greedy affects what is captured, but not whether the whole text matches.
    if (this.source[this.at] === '?') this.at++
    return { kind: 'repeat', of, least, most }
  }

  private quantifier(): [least: number, most: number, length: number] {
    switch (this.source[this.at]) {
      case '*':
        return [0, Infinity, 1]
      case '+':
        return [1, Infinity, 1]
      case '?':
        return [0, 1, 1]
      case '{': {
        const [whole = '', least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(this.rest(SOURCE_MAX)) ?? []
        const bound = comma === '' ? Number(least) : most === '' ? Infinity : Number(most)
        return [Number(least), bound, whole.length]
      }
      default:
        return [0, 0, 0]
    }
  }

  private endOfClass(): number {
    let at = this.at + 1
    while (this.source[at] !== ']') at += this.source[at] === '\\' ? 2 : 1
    return at + 1
  }

  private endOfEscape(): number {
    const rest = this.rest(SOURCE_MAX)
    if (/^\\([1-9]|k)/.test(rest)) throw new Unsupported('must not refer back to a group')
    if (/^\\[bB]/.test(rest)) throw new Unsupported('must not ask for word boundaries')
    const [long] = /^\\(?:x..|u\{[^}]*\}|ud[89ab]..\\ud[c-f]..|u....|c.|[pP]\{[^}]*\})/i.exec(rest) ?? []
    return this.at + (long === undefined ? 2 : Array.from(long).length)
  }

  private taken(end: number): Node {
    const source = this.source.slice(this.at, end).join('')
    this.at = end
    return { kind: 'atom', source }
  }

  private rest(length: number): string {
    return this.source.slice(this.at, this.at + length).join('')
  }
}

type Step =
  | { do: 'take'; atom: number; next: number }
  | { do: 'split'; next: readonly number[] }
  | { do: 'edge'; at: 'start' | 'end'; next: number }
  | { do: 'accept' }

interface Program {
  steps: readonly Step[]
  first: number
  /** Each one tests one character. */
  atoms: readonly RegExp[]
}

/** Compiled from the end to the beginning, because each step refers to the next one. */
function compile(root: Node): Program {
  const steps: Step[] = [{ do: 'accept' }]
  const atoms = new Map<string, number>()

  function add(step: Step): number {
    if (steps.length >= STEPS_MAX) throw new Unsupported('must not repeat so much')
    return steps.push(step) - 1
  }

  let visits = 0
  function before(next: number, node: Node): number {
    // A repeated group may be empty and so add no step, but be repeated a billion times.
    if (++visits > STEPS_MAX * 10) throw new Unsupported('must not repeat so much')
    switch (node.kind) {
      case 'atom': {
        const atom = atoms.get(node.source) ?? atoms.size
        atoms.set(node.source, atom)
        return add({ do: 'take', atom, next })
      }
      case 'edge':
        return add({ do: 'edge', at: node.at, next })
      case 'all':
        return node.of.reduceRight(before, next)
      case 'either':
        return add({ do: 'split', next: node.of.map((way) => before(next, way)) })
      case 'repeat':
        return repeated(next, node)
    }
  }

  function repeated(next: number, { of, least, most }: Node & { kind: 'repeat' }): number {
    let first = next
    if (most === Infinity) {
      const loop = { do: 'split', next: [next] } satisfies Step
      first = add(loop)
      loop.next.push(before(first, of))
    } else {
      for (let more = least; more < most; more++) first = add({ do: 'split', next: [next, before(first, of)] })
    }
    for (let times = 0; times < least; times++) first = before(first, of)
    return first
  }

  const first = before(0, root)
  return { steps, first, atoms: [...atoms.keys()].map((source) => new RegExp(`^(?:${source})$`, 'u')) }
}

const REMEMBERED = 256

/** Follows all paths at once, character by character. A step that two paths reach is followed once. */
function run({ steps, first, atoms }: Program, text: readonly string[]): boolean {
  const seenAt = new Int32Array(steps.length).fill(-1)
  let here: number[] = []

  function reach(start: number, position: number, into: number[]): void {
    const waiting = [start]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seenAt[at] === position) continue
      seenAt[at] = position
      const step = steps[at]
      if (step?.do === 'split') waiting.push(...step.next)
      else if (step?.do === 'edge') {
        if (position === (step.at === 'start' ? 0 : text.length)) waiting.push(step.next)
      } else into.push(at)
    }
  }

  // Testing the characters takes longest, and a text has few different ones, so the results are cached.
  const known = new Map<string, readonly boolean[]>()
  reach(first, 0, here)
  for (const [position, character] of text.entries()) {
    let fits = known.get(character)
    if (fits === undefined) {
      fits = atoms.map((atom) => atom.test(character))
      if (known.size < REMEMBERED) known.set(character, fits)
    }
    const next: number[] = []
    for (const at of here) {
      const step = steps[at]
      if (step?.do === 'take' && fits[step.atom] === true) reach(step.next, position + 1, next)
    }
    if (next.length === 0) return false
    here = next
  }
  return here.some((at) => steps[at]?.do === 'accept')
}

/** A pattern that matches this text and nothing else. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
