import { nearest } from '../../service/kit/nearest.ts'

const NAMES = ['name', 'description', 'callbackUrl', 'price', 'seo-audit', 'seo-audit-pro', 'cv']

test.each([
  ['nmae', 'name'],
  ['descripton', 'description'],
  ['callback_url', 'callbackUrl'],
  ['Price', 'price'],
  ['seo-adit', 'seo-audit'],
  ['seo-audit-por', 'seo-audit-pro'],
  ['xyz', null],
  ['cw', null],
  ['', null],
  ['completely-other', null],
])('%s → %s', (text, name) => {
  expect(nearest(text, NAMES)).toBe(name)
})

test('the nearest of several, the first of equals', () => {
  expect(nearest('prompt-b', ['prompt-abc', 'prompt-a', 'prompt-c'])).toBe('prompt-a')
})

test('suggests nothing for overlong names, and stops after a limit of candidates', () => {
  expect(nearest('a'.repeat(81), ['a'.repeat(80)])).toBeNull()
  function* endless(): Generator<string> {
    for (let at = 0; ; at++) yield `other-${String(at)}`
  }
  expect(nearest('quite-different', endless())).toBeNull()
})
