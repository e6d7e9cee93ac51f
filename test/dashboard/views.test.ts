import fc from 'fast-check'
import {
  NAME_MAX,
  readViews,
  VIEWS_MAX,
  without,
  withView,
  type View,
} from '../../service/dashboard/browser/parts/views.ts'

test("reads only valid views from the browser's storage, and at most the maximum", () => {
  for (const text of [null, '', 'x', '1', 'null', '{}', '[1]', '[{"name":""}]', '[{"name":"a","filters":1}]']) {
    expect(readViews(text)).toEqual([])
  }
  const long = { name: 'a'.repeat(NAME_MAX + 1), filters: '' }
  const good = { name: 'Refunded', filters: 'state=refunded' }
  expect(readViews(JSON.stringify([long, good, { ...good, filters: 'x'.repeat(1_001) }]))).toEqual([good])
  fc.assert(fc.property(fc.json(), (text) => readViews(text).length <= VIEWS_MAX))
})

test('stores each view name once, drops the oldest, and reads back what it stored', () => {
  const act = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 40 }), fc.string({ maxLength: 50 }))
  fc.assert(
    fc.property(fc.array(act, { maxLength: 80 }), (acts) => {
      let views: readonly View[] = []
      for (const [saves, number, filters] of acts) {
        const name = `View ${String(number)}`
        views = saves ? withView(views, { name, filters }) : without(views, name)
        expect(views.some((view) => view.name === name && view.filters === filters)).toBe(saves)
        expect(new Set(views.map((view) => view.name)).size).toBe(views.length)
        expect(readViews(JSON.stringify(views))).toEqual(views)
      }
    }),
  )
})
