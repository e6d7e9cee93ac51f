import { fieldsSchema, readInput } from '../../service/kit/fields.ts'
import { check, errorsOf } from '../../service/pages/browser/checkout/form.ts'
import { prefillIn } from '../../service/pages/browser/checkout/prefill.ts'
import type { Field } from '../../service/pages/model.ts'
import { en } from '../../service/pages/browser/words/en.ts'
import { speak } from '../../service/pages/browser/words/say.ts'

speak('en', en)

describe('a web address in a form', () => {
  const field: Field = { name: 'site', label: 'Site', type: 'url', required: true }
  const read = (text: string): unknown => check([field], { site: text }).input['site']

  test.each([
    ['example.com', 'https://example.com'],
    ['shop.example.com:8080/a?b#c', 'https://shop.example.com:8080/a?b#c'],
    ['http://example.com', 'http://example.com'],
    ['münchen.example', 'https://münchen.example'],
  ])('%s is read as %s', (text, value) => {
    expect(read(text)).toBe(value)
  })

  test.each([
    'example',
    'javascript:alert(1)',
    'mailto:a@b.example',
    'a@b.example',
    '1.5',
    'ftp://example.com',
    'a b.c',
  ])('%s is not an address', (text) => {
    expect(read(text)).toBeUndefined()
  })
})

describe('a text that does not match', () => {
  const words = 'An order number is ORD- and four digits, as on your invoice.'
  /** As the server refuses it, and as the form then shows it. */
  const shown = (patternMessage: string | null, text: string): Readonly<Record<string, string>> => {
    const order = {
      name: 'order',
      label: 'Order number',
      type: 'text',
      max: 12,
      pattern: 'ORD-[0-9]{4}',
      patternMessage,
    }
    const fields = fieldsSchema.parse([order])
    const read = readInput(fields, { order: text })
    const faults = 'faults' in read ? Object.entries(read.faults) : []
    const details = Object.fromEntries(faults.map(([name, fault]) => [`input.${name}`, fault]))
    return errorsOf(fields, { ...details, quoteId: 'has expired' })
  }

  test("shows the seller's message, and nothing of the pattern", () => {
    expect(shown(words, '4711')).toEqual({ order: words })
    expect(shown(words, 'ORD-4711')).toEqual({})
  })

  test('shows our message where the seller has none, or where another rule is broken', () => {
    expect(shown(null, '4711')).toEqual({ order: 'This must match ORD-[0-9]{4}.' })
    expect(shown(words, 'ORD-4711-4712-4713')).toEqual({ order: 'This must have at most 12 characters.' })
  })
})

describe('a link that fills in a form', () => {
  const fields: Field[] = [
    { name: 'site', label: 'Site', type: 'url', required: true },
    { name: 'token', label: 'Token', type: 'text', required: false },
    { name: 'size', label: 'Size', type: 'select', required: true, options: ['S', 'L'] },
    { name: 'news', label: 'News', type: 'boolean', required: false },
  ]
  const filled = (search: string): [Record<string, string | boolean>, string[]] => {
    const { values, locked } = prefillIn(search, fields)
    return [Object.fromEntries(values), [...locked]]
  }

  test.each([
    ['?site=a.example&price=0&recipient=0x1', { site: 'a.example' }, []],
    ['?site=a.example&lock=site,price', { site: 'a.example' }, ['site']],
    ['?token=abc', {}, []],
    ['?f.token=abc&lock=token', { token: 'abc' }, ['token']],
    ['?size=XL&news=1&lock=size,news', { size: '', news: true }, ['news']],
    ['?site=no%20address&lock=site', { site: 'no address' }, []],
    ['?__proto__=1&constructor=2', {}, []],
    [`?site=${'a'.repeat(3_000)}`, {}, []],
  ])('%s', (search, values, locked) => {
    expect(filled(search)).toEqual([values, locked])
  })

  test('has a draft of its own', () => {
    expect(prefillIn('?site=a.example', fields).key).not.toBe(prefillIn('?site=b.example', fields).key)
    expect(prefillIn('?lang=de', fields).key).toBe('')
  })
})
