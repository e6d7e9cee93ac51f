import fc from 'fast-check'
import { parsePattern } from '../../service/kit/pattern.ts'

describe('patterns that strangers write', () => {
  const atom = fc.constantFrom(
    ...['a', 'b', '.', '[ab]', '[^a]', '[a\\]]', '\\d', '\\w', '\\.', '\\x61', '\\u0061', '\\u{1F600}', '\\p{L}'],
    ...['é', '😀', '\\ud83d\\ude00', '\\s', '[^\\S]', '\\p{Script=Greek}', '\\p{Letter}'],
  )
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,}', '{0,3}'))
        .map(([a, q]) => `(${a})${q}`),
      tie('pattern').map((a) => `^${a}`),
      tie('pattern').map((a) => `${a}$`),
    ),
  }))
  const text = fc
    .array(fc.constantFrom('a', 'b', '1', '.', ']', '_', 'é', 'Ω', '😀', '\u00A0', '\u2028', '\r'), { maxLength: 6 })
    .map((all) => all.join(''))

  it("match like JavaScript's own engine", () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
        const parsed = parsePattern(source)
        if (typeof parsed === 'string') {
          expect(parsed).toMatch(/at most 256|repeat so much/)
          return
        }
        const own = new RegExp(`^(?:${source})$`, 'u')
        for (const each of texts) expect([source, each, parsed.matches(each)]).toEqual([source, each, own.test(each)])
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['(a+)+', 'a'.repeat(20_000) + '!'],
    ['(a|a)*b', 'a'.repeat(20_000)],
    ['(.*)(.*)(.*)(.*)(.*)(.*)x', 'a'.repeat(20_000)],
    ['(((a{0,9}){0,9}){0,9})b', 'a'.repeat(20_000)],
  ])('%s ends for a hostile text', (source, hostile) => {
    const parsed = parsePattern(source)
    expect(typeof parsed === 'string' ? parsed : parsed.matches(hostile)).toBe(false)
  })

  it.each([
    ['[', 'must be a regular expression'],
    ['a{2,1}', 'must be a regular expression'],
    ['(?=a)b', 'must not look ahead or behind, as (?= and (?! do'],
    ['(?<!a)b', 'must not look ahead or behind, as (?= and (?! do'],
    ['(a)\\1', 'must not refer back to a group'],
    ['(?<n>a)\\k<n>', 'must not refer back to a group'],
    ['\\bword', 'must not ask for word boundaries'],
    ['a{1,5000}', 'must not repeat so much'],
    ['((?:){2000}){2000}', 'must not repeat so much'],
    ['(?:){1000000000}', 'must not repeat so much'],
    ['a'.repeat(257), 'must have at most 256 characters'],
  ])('%s is refused with a reason', (source, why) => {
    expect(parsePattern(source)).toBe(why)
  })
})
