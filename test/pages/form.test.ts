import { fieldsSchema, readInput } from '../../service/kit/fields.ts'
import { check, errorsOf } from '../../service/pages/browser/checkout/form.ts'
import type { Field } from '../../service/pages/model.ts'

describe('a web address in a form', () => {
  const field: Field = { name: 'site', label: 'Site', type: 'url', required: true }
  const read = (text: string): unknown => check([field], { site: text }).input['site']

  test.each([
    ['example.com', 'https://example.com'],
    ['shop.example.com:8080/a?b#c', 'https://shop.example.com:8080/a?b#c'],
    ['http://example.com', 'http://example.com'],
    ['münchen.example', 'https://münchen.example'],
  ])('%s is taken as %s', (text, value) => {
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
  ])('%s is not taken for one', (text) => {
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

  test('is answered in the words of its seller, and with nothing of the pattern', () => {
    expect(shown(words, '4711')).toEqual({ order: words })
    expect(shown(words, 'ORD-4711')).toEqual({})
  })

  test('is answered in our words where the seller wrote none, or where another rule is broken', () => {
    expect(shown(null, '4711')).toEqual({ order: 'This must match ORD-[0-9]{4}.' })
    expect(shown(words, 'ORD-4711-4712-4713')).toEqual({ order: 'This must have at most 12 characters.' })
  })
})
