import { fieldsSchema, readInput, sampleInput, toJsonSchema, type Field } from '../../service/kit/fields.ts'

describe('fields', () => {
  const fields = (described: unknown): Field[] => fieldsSchema.parse(described)

  it('with a minimal description have null for every other property', () => {
    expect(fields([{ name: 'site', type: 'url' }])).toEqual([
      {
        name: 'site',
        label: 'site',
        type: 'url',
        required: false,
        placeholder: null,
        options: null,
        description: null,
        default: null,
        min: null,
        max: null,
        pattern: null,
        patternMessage: null,
      },
    ])
  })

  it('fill in defaults, omit absent values, and parse JSON sent as text', () => {
    const form = fields([
      { name: 'a', type: 'text', default: 'x' },
      { name: 'b', type: 'text' },
      { name: 'c', type: 'json' },
      { name: 'd', type: 'boolean', required: true },
      { name: 'e', type: 'number', required: true },
    ])
    expect(readInput(form, { b: '', c: '[1, {"k": null}]', d: false, e: 0 })).toEqual({
      values: { a: 'x', c: [1, { k: null }], d: false, e: 0 },
    })
  })

  it('read no value from the prototype, and do not change it', () => {
    const form = fields([{ name: 'a', type: 'text', required: true }])
    const inherited = Object.create({ a: 'inherited' }) as Record<string, unknown>
    expect(readInput(form, inherited)).toEqual({ faults: { a: 'is required' } })
    const hostile = JSON.parse('{"__proto__": {"a": "x"}}') as Record<string, unknown>
    expect(readInput(form, hostile)).toEqual({
      faults: JSON.parse('{"__proto__": "is not known", "a": "is required"}'),
    })
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('accept their own samples', () => {
    const form = fields([
      { name: 'a', type: 'text', min: 20, max: 30, required: true },
      { name: 'b', type: 'textarea', max: 3, required: true },
      { name: 'c', type: 'number', max: -5, required: true },
      { name: 'd', type: 'select', options: ['one', 'two'], required: true },
      { name: 'e', type: 'boolean', required: true },
      { name: 'f', type: 'email', required: true },
      { name: 'g', type: 'url', required: true },
      { name: 'h', type: 'file', required: true },
      { name: 'i', type: 'json', required: true },
      { name: 'k', type: 'date', required: true },
      { name: 'j', type: 'text', pattern: '[A-Z]+', default: 'ABC', required: true },
    ])
    expect(readInput(form, sampleInput(form))).toHaveProperty('values')
  })
})

describe('the input of a field', () => {
  const fieldOf = (more: object) => fieldsSchema.parse([{ name: 'f', type: 'text', ...more }])

  test('a text has up to 10,000 characters, and lines where a program sends it', () => {
    const fields = fieldOf({})
    expect(readInput(fields, { f: 'a'.repeat(10_000) })).toHaveProperty('values')
    expect(readInput(fields, { f: 'a'.repeat(10_001) })).toEqual({
      faults: { f: 'must have at most 10000 characters' },
    })
    expect(readInput(fields, { f: 'a\nb' })).toEqual({ faults: { f: 'must be a single line' } })
    expect(readInput(fields, { f: 'a\nb' }, { lines: true })).toEqual({ values: { f: 'a\nb' } })
  })

  test("textarea and json are limited by the body's size and their own rules only", () => {
    const long = 'a'.repeat(250_000)
    expect(readInput(fieldOf({ type: 'textarea' }), { f: long })).toEqual({ values: { f: long } })
    expect(readInput(fieldOf({ type: 'textarea', max: 3 }), { f: long })).toHaveProperty('faults')
    expect(readInput(fieldOf({ type: 'json' }), { f: JSON.stringify([long]) })).toEqual({ values: { f: [long] } })
    expect(readInput(fieldOf({ type: 'json' }), { f: '['.repeat(200_000) })).toEqual({
      faults: { f: 'is nested too deeply: at most 128 levels are allowed' },
    })
  })

  test.each([
    ['example.com', 'https://example.com'],
    ['www.example.com/a?b#c', 'https://www.example.com/a?b#c'],
    ['example.com:8080/x', 'https://example.com:8080/x'],
    ['http://example.com', 'http://example.com'],
  ])('the address %s is %s', (typed, address) => {
    expect(readInput(fieldOf({ type: 'url' }), { f: typed })).toEqual({ values: { f: address } })
  })

  test.each([
    'javascript:alert(1)',
    'mailto:a@b.example',
    'nothing',
    '1.5',
    'a b.example',
    'https://a\r\n.example',
    'ex.com\u202e',
  ])('%j is no address', (typed) => {
    expect(readInput(fieldOf({ type: 'url' }), { f: typed })).toHaveProperty('faults')
  })

  test.each(['2028-02-29', '0001-01-01', '9999-12-31'])('%s is a date', (day) => {
    expect(readInput(fieldOf({ type: 'date' }), { f: day })).toEqual({ values: { f: day } })
  })

  test.each(['2030-02-29', '2030-13-01', '2030-1-1', '31.01.2030', '2030-01-31T00:00:00Z', ' 2030-01-31', 20300131])(
    '%j is no date',
    (day) => {
      expect(readInput(fieldOf({ type: 'date' }), { f: day })).toEqual({
        faults: { f: 'must be a date, as YYYY-MM-DD' },
      })
    },
  )

  test('a date is a date to programs, has no bounds of a text, and may have a default', () => {
    const fields = fieldOf({ type: 'date', default: '2030-01-31' })
    expect(toJsonSchema(fields)['properties']).toEqual({
      f: { type: 'string', format: 'date', description: 'f', default: '2030-01-31' },
    })
    expect(readInput(fields, {})).toEqual({ values: { f: '2030-01-31' } })
    for (const more of [{ min: 1 }, { pattern: '.*' }, { default: '2030-02-30' }])
      expect(fieldsSchema.safeParse([{ name: 'f', type: 'date', ...more }]).success).toBe(false)
  })

  test("a value that does not match a pattern gets the owner's message", () => {
    const fields = fieldOf({ pattern: 'A\\d{4}', patternMessage: 'must be an order number like A1234' })
    expect(readInput(fields, { f: 'B1' })).toEqual({ faults: { f: 'must be an order number like A1234' } })
    expect(readInput(fieldOf({ pattern: 'A\\d{4}' }), { f: 'B1' })).toEqual({ faults: { f: 'must match A\\d{4}' } })
    expect(fieldsSchema.safeParse([{ name: 'f', type: 'text', patternMessage: 'x' }]).success).toBe(false)
  })

  test('the patterns of one request take bounded time, however many fields share them', () => {
    const pattern = '(a|b|c|d|e|f|g|h){0,99}.{0,300}'
    const fields = fieldsSchema.parse(
      Array.from({ length: 20 }, (_, place) => ({ name: `f${String(place)}`, type: 'textarea', pattern })),
    )
    const input = Object.fromEntries(fields.map(({ name }) => [name, 'abcdefgh'.repeat(1_000)]))
    const read = readInput(fields, input)
    const faults = 'faults' in read ? read.faults : {}
    expect(Object.values(faults)).toContain('is too long to be compared with its pattern: send a shorter text')
  })
})
