import { fieldsSchema, readInput, toJsonSchema, type Field } from '../../service/kit/fields.ts'

const parsed = (fields: unknown[]): readonly Field[] => fieldsSchema.parse(fields)
const faultOf = (fields: unknown[]): unknown =>
  fieldsSchema.safeParse(fields).error?.issues.map(({ path, message }) => [path.join('.'), message])

const KIND = { name: 'kind', type: 'select', required: true, options: ['person', 'company'] }
const VAT = { name: 'vat', type: 'text', required: true, showIf: { field: 'kind', equals: 'company' } }
const GIFT = { name: 'gift', type: 'boolean' }
const TO = { name: 'to', type: 'email', required: true, showIf: { field: 'gift', equals: true } }
const NOTE = { name: 'note', type: 'text', default: 'Hello', showIf: { field: 'gift', equals: true } }

describe('fields that are shown only if another has a value', () => {
  const fields = parsed([KIND, VAT, GIFT, TO, NOTE])

  it('are required and read while they are shown, and neither while they are hidden', () => {
    expect(readInput(fields, { kind: 'person' })).toEqual({ values: { kind: 'person' } })
    expect(readInput(fields, { kind: 'company' })).toEqual({ faults: { vat: 'is required' } })
    expect(readInput(fields, { kind: 'company', vat: 'DE1' })).toEqual({ values: { kind: 'company', vat: 'DE1' } })
    // What was typed before the field was hidden is not meant, whatever it is.
    expect(readInput(fields, { kind: 'person', vat: { wrong: 1 }, to: 'x' })).toEqual({ values: { kind: 'person' } })
    expect(readInput(fields, { kind: 'person', gift: true })).toEqual({ faults: { to: 'is required' } })
    expect(readInput(fields, { kind: 'person', gift: true, to: 'a@b.co' })).toEqual({
      values: { kind: 'person', gift: true, to: 'a@b.co', note: 'Hello' },
    })
  })

  it('follow the default of the field above, and are hidden with it', () => {
    const chain = parsed([
      { ...KIND, required: false, default: 'company' },
      { ...GIFT, showIf: { field: 'kind', equals: 'company' } },
      { name: 'why', type: 'text', required: true, showIf: { field: 'gift', equals: false } },
    ])
    expect(readInput(chain, {})).toEqual({ faults: { why: 'is required' } })
    expect(readInput(chain, { kind: 'person' })).toEqual({ values: { kind: 'person' } })
  })

  it('are described to models, which need not send them', () => {
    expect(toJsonSchema(fields)).toMatchObject({
      required: ['kind'],
      properties: {
        vat: { description: 'vat. Required only if kind is "company".' },
        note: { description: 'note. Taken only if gift is true.' },
      },
    })
  })

  it('an empty condition beside another fault is no fault', () => {
    expect(faultOf([{ name: 'no name', type: 'text', showIf: null }])).toEqual([['0.name', expect.any(String)]])
  })

  it.each([
    ['of a field below', [VAT, KIND], 'must name a choice or a yes-or-no field above this one'],
    [
      'of itself',
      [{ ...GIFT, showIf: { field: 'gift', equals: true } }],
      'must name a choice or a yes-or-no field above this one',
    ],
    [
      'of a text',
      [
        { name: 'a', type: 'text' },
        { name: 'b', type: 'text', showIf: { field: 'a', equals: 'x' } },
      ],
      'must name a choice or a yes-or-no field above this one',
    ],
    [
      'with no option of the choice',
      [KIND, { ...VAT, showIf: { field: 'kind', equals: 'cat' } }],
      'must be one of person, company',
    ],
    ['with a text for a box', [GIFT, { ...TO, showIf: { field: 'gift', equals: 'true' } }], 'must be true or false'],
  ])('conditions %s are refused', (_, wrong, message) => {
    expect(faultOf(wrong)).toEqual([[`${String(wrong.findIndex((field) => 'showIf' in field))}.showIf`, message]])
  })
})
