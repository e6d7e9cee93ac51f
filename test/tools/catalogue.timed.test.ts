import { createDocuments } from '../../service/openapi/documents.ts'
import { WordIndex } from '../../service/tools/service/catalogue/word-index.ts'
import { chainOf, readHere } from './large-documents.ts'
import { entriesToSearch, tasksOf } from './search/tasks.ts'

test('a document four times as large is read in about four times the time', () => {
  const [small, large] = [chainOf(1_000), chainOf(4_000)]
  const timed = (text: string) => {
    const started = performance.now()
    expect(readHere(text)).not.toEqual([])
    return performance.now() - started
  }
  const least = (text: string) => Math.min(...Array.from({ length: 3 }, () => timed(text)))
  timed(small)
  expect(least(large)).toBeLessThan(12 * Math.max(least(small), 20))
})

test('a document of Swagger 2 that is as large as may be is read in linear time', async () => {
  const documentOf = (count: number) =>
    JSON.stringify({
      ...{ swagger: '2.0', info: { title: 'Shop', version: '3' }, host: 'api.shop.example', schemes: ['https'] },
      parameters: { all: { name: 'all', in: 'query', type: 'string' } },
      paths: Object.fromEntries(
        Array.from({ length: count }, (_, nth) => [
          `/p${String(nth)}`,
          { parameters: [{ $ref: '#/parameters/all' }], get: { operationId: `o${String(nth)}`, responses: {} } },
        ]),
      ),
    })
  const timed = async (count: number) => {
    const text = documentOf(count)
    const started = performance.now()
    const { operations } = await createDocuments().read(text, { base: null, server: null, auth: null, trusted: false })
    expect(operations).toHaveLength(count)
    return performance.now() - started
  }
  await timed(100)
  const [small, large] = [await timed(1_000), await timed(8_000)]
  expect(large).toBeLessThan(24 * Math.max(small, 50))
})

test('a search takes less than 20 ms, at eleven thousand tools', async () => {
  const entries = await entriesToSearch()
  const large = new WordIndex()
  for (let copy = 0; copy < 6; copy++)
    for (const entry of entries) large.put({ ...entry, id: `${entry.id}${String(copy)}` })
  const times = tasksOf('held-back').map(({ text }) => {
    const begun = performance.now()
    large.find(text, () => undefined)
    return performance.now() - begun
  })
  times.sort((one, other) => one - other)
  expect(times[Math.floor(times.length / 2)]).toBeLessThan(20)
})
