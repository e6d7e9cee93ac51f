import fc from 'fast-check'
import { deriveId, isId, newId } from '../../service/kit/ids.ts'

describe('ids', () => {
  test('sort by the millisecond in which they were made', () => {
    const moments = fc.tuple(fc.nat({ max: 4_000_000_000_000 }), fc.integer({ min: 1, max: 1_000_000 }))
    fc.assert(fc.property(moments, ([at, later]) => newId('run', new Date(at)) < newId('run', new Date(at + later))))
  })

  test('are recognised by their prefix and form', () => {
    const id = newId('run', new Date())
    expect(id).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(isId('run', id)).toBe(true)
    expect(isId('rda', id)).toBe(false)
    expect(isId('run', `${id}x`)).toBe(false)
    expect(isId('run', 'run_')).toBe(false)
  })

  test('ten thousand of one moment are ten thousand', () => {
    const now = new Date()
    expect(new Set(Array.from({ length: 10_000 }, () => newId('op', now))).size).toBe(10_000)
  })

  test('derive the id of each created row from the operation', () => {
    const operation = newId('op', new Date())
    expect(deriveId('dep', operation)).toBe(operation.replace('op_', 'dep_'))
  })
})
