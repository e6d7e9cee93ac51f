import { boxesOf } from '../../service/dashboard/browser/parts/texts.ts'

const checkout = (id: string, name: string, status = 'active') => ({ id, status, product: { name } })

describe("a coupon's form", () => {
  const listed = [checkout('chk_a', 'Audit'), checkout('chk_b', 'Book', 'paused'), checkout('chk_c', 'Chat', 'expired')]

  test('has a box for each checkout that has not ended', () => {
    expect(boxesOf(listed, [])).toEqual([
      { id: 'chk_a', name: 'Audit' },
      { id: 'chk_b', name: 'Book' },
    ])
  })

  test('has a box for each checkout that the coupon is limited to, also one that has ended or is not listed', () => {
    expect(boxesOf(listed, ['chk_c', 'chk_old', 'chk_b'])).toEqual([
      { id: 'chk_c', name: 'Chat (ended)' },
      { id: 'chk_old', name: 'chk_old' },
      { id: 'chk_b', name: 'Book' },
      { id: 'chk_a', name: 'Audit' },
    ])
    expect(boxesOf([], ['chk_old'])).toEqual([{ id: 'chk_old', name: 'chk_old' }])
  })
})
