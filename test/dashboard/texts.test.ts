import { fieldNameOf, toAmount, toJson } from '../../service/dashboard/browser/parts/texts.ts'

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

test('a number that is not valid is sent as its text, never as null, which means "no limit"', () => {
  const body = { max: toAmount('1,000'), prices: [toAmount('abc'), toAmount('1e999'), 0.05], until: null, name: 'NaN' }
  expect(toJson({ id: 'a', body })).toBe(
    '{"id":"a","body":{"max":"NaN","prices":["NaN","Infinity",0.05],"until":null,"name":"NaN"}}',
  )
  // An action without an input has none.
  expect(toJson(undefined)).toBe('')
})
