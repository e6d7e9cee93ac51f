import { toMicroUsdc } from '../../service/ui-kit/format.ts'
import { changedOf, fieldNameOf, toAmount, toJson, versionFor } from '../../service/dashboard/browser/parts/texts.ts'

test.each([
  ['Your website', [], 'your_website'],
  ['Größe (cm)', [], 'gro_e_cm'],
  ['2nd name', [], 'nd_name'],
  ['電話', [], 'field'],
  ['', [], ''],
  ['Website', ['website', 'website_2'], 'website_3'],
  ['Constructor', [], 'constructor_2'],
])('the name of a field is made from its label: %s', (label, others, name) => {
  expect(fieldNameOf(label, others)).toBe(name)
})

test('an amount may be written with a comma', () => {
  expect([toAmount('4,50'), toAmount('4.5'), toAmount('0,005'), toAmount('')]).toEqual([4.5, 4.5, 0.005, Number.NaN])
})

test('an amount in groups of thousands is refused, as it would be read as a small one', () => {
  expect(['1,000', '12,500', '1,000,000'].map(toAmount)).toEqual([Number.NaN, Number.NaN, Number.NaN])
})

test.each([
  ['5', 5_000_000n],
  [' 1000,5 ', 1_000_500_000n],
  ['0.125', 125_000n],
  ['1.1250', 1_125_000n],
  [',5', 500_000n],
  ['1,000', null],
  ['1.000', null],
  ['1.000,5', null],
  ['1,000,000', null],
  ['1 000', null],
  ['0.1234567', null],
  ['', null],
  ['.', null],
])('a payment page reads %j as %s', (text, micro) => {
  expect(toMicroUsdc(text)).toBe(micro)
})

test('a number that is not valid is sent as its text, never as null, which means "no limit"', () => {
  const body = { max: toAmount('1,000'), prices: [toAmount('abc'), toAmount('1e999'), 0.05], until: null, name: 'NaN' }
  expect(toJson({ id: 'a', body })).toBe(
    '{"id":"a","body":{"max":"NaN","prices":["NaN","Infinity",0.05],"until":null,"name":"NaN"}}',
  )
  // An action without an input has none.
  expect(toJson(undefined)).toBe('')
})

describe('of a form', () => {
  const opened = {
    name: 'A',
    price: 5,
    plans: [{ id: 'ten', runs: 10 }],
    limits: { perCall: 1, perDay: null as number | null },
  }

  test('only what was edited is sent', () => {
    expect(changedOf(structuredClone(opened), opened)).toEqual({})
    expect(changedOf({ ...opened, name: 'B' }, opened)).toEqual({ name: 'B' })
    // The API replaces it whole.
    expect(changedOf({ ...opened, plans: [{ id: 'ten', runs: 20 }] }, opened)).toEqual({
      plans: [{ id: 'ten', runs: 20 }],
    })
    expect(changedOf({ ...opened, plans: [] }, opened)).toEqual({ plans: [] })
  })

  test('of a part that the API merges only the edited fields are sent, of others the whole', () => {
    const edited = { ...opened, limits: { perCall: 1, perDay: 3 } }
    expect(changedOf(edited, opened, ['limits'])).toEqual({ limits: { perDay: 3 } })
    expect(changedOf(edited, opened)).toEqual({ limits: { perCall: 1, perDay: 3 } })
  })

  test('a number that is not valid is sent where there was none, so that it is refused', () => {
    const edited = { ...opened, limits: { perCall: 1, perDay: Number.NaN } }
    expect(changedOf(edited, opened, ['limits'])).toEqual({ limits: { perDay: Number.NaN } })
  })

  test('a change of what others have changed meanwhile names the version that was opened, any other one the current', () => {
    const [before, current] = [
      { ...opened, version: 1 },
      { ...opened, price: 8, version: 2 },
    ]
    const versions = { opened: before, current, toBody: ({ version: _, ...body }: typeof before) => body }
    expect(versionFor({ price: 6 }, versions)).toBe(1)
    expect(versionFor({ name: 'B' }, versions)).toBe(2)
    expect(versionFor({ price: 6 }, { ...versions, current: before })).toBe(1)
  })
})
