import fc from 'fast-check'
import { KINDS, type Product } from '../../service/storefront/model.ts'
import { pageOf, withToolNames } from '../../service/storefront/rules.ts'

const product = (id: string, name: string, kind: Product['kind'] = 'checkout'): Product => ({ kind, id, name })
const toolsOf = (products: readonly Product[]) => withToolNames(products).listed.map(({ tool }) => tool)

describe('the names of tools', () => {
  test('the oldest product of a name has it, and the others a suffix that is theirs alone', () => {
    const [one, two, three] = [
      product('a', 'SEO audit'),
      product('b', 'Seo  Audit!'),
      product('a', 'SEO audit', 'asset'),
    ]
    const tools = toolsOf([three, two, one])
    expect(tools).toEqual([
      'seo-audit',
      expect.stringMatching(/^seo-audit-[0-9a-f]{6}$/) as string,
      expect.stringMatching(/^seo-audit-[0-9a-f]{6}$/) as string,
    ])
    expect(toolsOf([one, two, three])).toEqual(tools)
    // It stays when the others come and go, also where it is not needed any more.
    expect(withToolNames([two]).byTool.get(tools[1]!)).toMatchObject({ id: 'b', tool: 'seo-audit' })
    expect(toolsOf([two])).toEqual(['seo-audit'])
  })

  test('a product that is called like another’s suffix does not take its name', () => {
    const [one, two] = [product('b', 'Audit'), product('c', 'Audit')]
    const [, suffixed = ''] = toolsOf([one, two])
    const third = product('a', suffixed)
    const { listed, byTool } = withToolNames([one, two, third])
    expect(new Set(listed.map(({ tool }) => tool)).size).toBe(3)
    expect(byTool.get(suffixed)).toMatchObject({ id: 'a' })
  })

  test('what is not for sale now takes no name from what is, and is in no list', () => {
    const former = { ...product('a', 'Audit'), former: true }
    const sold = product('b', 'Audit')
    const { listed, byTool } = withToolNames([former, sold])
    expect(listed).toEqual([{ ...sold, tool: 'audit' }])
    expect([...byTool]).toMatchObject([
      ['audit', { id: 'b' }],
      [expect.stringMatching(/^audit-[0-9a-f]{6}$/), { id: 'b' }],
      [expect.stringMatching(/^audit-[0-9a-f]{6}$/), { id: 'a' }],
    ])
    expect(withToolNames([former]).byTool.get('audit')).toMatchObject({ id: 'a' })
    // The latest of them is the first.
    const latest = { ...product('c', 'Audit'), former: true }
    expect(withToolNames([latest, former]).byTool.get('audit')).toMatchObject({ id: 'c' })
  })

  test('are unique, of letters that clients accept, and each on one page', () => {
    const products = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom(...KINDS),
        id: fc.string({ minLength: 1, maxLength: 6 }),
        name: fc.oneof(fc.constantFrom('Audit', 'audit', 'a'.repeat(80)), fc.string()),
      }),
      { selector: ({ kind, id }) => `${kind} ${id}`, maxLength: 200 },
    )
    fc.assert(
      fc.property(products, (all) => {
        const { listed, byTool } = withToolNames(all)
        expect(listed).toHaveLength(all.length)
        expect(new Set(listed.map(({ tool }) => tool)).size).toBe(all.length)
        for (const one of listed) {
          expect(one.tool).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
          expect(one.tool.length).toBeLessThanOrEqual(64)
          expect(byTool.get(one.tool)).toBe(one)
        }
        const seen = []
        for (let cursor: string | null | undefined; cursor !== null;) {
          const found = pageOf(listed, cursor)!
          expect(found.page.length).toBeLessThanOrEqual(50)
          seen.push(...found.page)
          cursor = found.next
        }
        expect(seen).toEqual(listed)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a page', () => {
  const many = Array.from({ length: 120 }, (_, place) => product(String(1_000 + place), `P${String(place)}`))

  test('starts after the last product shown, also when that was removed', () => {
    const { listed } = withToolNames(many)
    const { next } = pageOf(listed, undefined)!
    const fewer = withToolNames(many.filter((_, place) => place < 20 || place > 49)).listed
    expect(pageOf(fewer, next!)!.page[0]).toMatchObject({ id: '1050' })
    expect(pageOf([], next!)).toEqual({ page: [], next: null })
    expect(pageOf(listed, 'bm9uc2Vuc2U')).toBeNull()
  })
})
