import { fieldsSchema, readInput, sampleInput, type Field } from '../../service/kit/fields.ts'

describe('fields', () => {
  const fields = (described: unknown): Field[] => fieldsSchema.parse(described)

  it('as they are described least, with everything that was not said as null', () => {
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
      },
    ])
  })

  it('fill in defaults, leave out what is absent, and read JSON that came as text', () => {
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

  it('take no value from the prototype, and give none to it', () => {
    const form = fields([{ name: 'a', type: 'text', required: true }])
    const inherited = Object.create({ a: 'inherited' }) as Record<string, unknown>
    expect(readInput(form, inherited)).toEqual({ faults: { a: 'is required' } })
    const hostile = JSON.parse('{"__proto__": {"a": "x"}}') as Record<string, unknown>
    expect(readInput(form, hostile)).toEqual({
      faults: JSON.parse('{"__proto__": "is not known", "a": "is required"}'),
    })
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('have samples that they take themselves', () => {
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
      { name: 'j', type: 'text', pattern: '[A-Z]+', default: 'ABC', required: true },
    ])
    expect(readInput(form, sampleInput(form))).toHaveProperty('values')
  })
})
