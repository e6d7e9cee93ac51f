import type { ServiceAnswer } from '../n8n.ts'
import { execute } from './execution.ts'

describe('lists', () => {
  it('are read to their end where all is wanted', async () => {
    const page = (from: number, count: number): ServiceAnswer =>
      ok({ transactions: Array.from({ length: count }, (_, place) => ({ id: from + place })), total: 150 })
    const done = await execute({
      parameters: { resource: 'wallet', operation: 'transactions', returnAll: true },
      answers: [page(0, 100), page(100, 50)],
    })
    expect(done.calls.map(({ qs }) => qs)).toEqual([
      { limit: 100, offset: 0 },
      { limit: 100, offset: 100 },
    ])
    expect(done.items).toHaveLength(150)
  })

  it('request no more than the limit, and stop when they shrink meanwhile', async () => {
    const done = await execute({
      parameters: { resource: 'wallet', operation: 'transactions', limit: 130 },
      answers: [
        ok({ transactions: Array.from({ length: 100 }, (_, id) => ({ id })), total: 500 }),
        ok({ transactions: [], total: 500 }),
      ],
    })
    expect(done.calls.map(({ qs }) => qs)).toEqual([
      { limit: 100, offset: 0 },
      { limit: 30, offset: 100 },
    ])
    expect(done.items).toHaveLength(100)
  })

  it('have a payment once where one arrives between two pages, also where it has changed', async () => {
    const page = (from: number, to: number, state: string) =>
      Array.from({ length: from - to + 1 }, (_, place) => ({ id: `pay_${String(from - place)}`, state }))
    const done = await execute({
      parameters: { resource: 'payment', operation: 'getAll', returnAll: true },
      answers: [
        ok({ payments: page(150, 51, 'settling'), total: 150 }),
        ok({ payments: page(51, 1, 'paid'), total: 151 }),
      ],
    })
    expect(done.calls).toHaveLength(2)
    expect(done.items.map(({ json }) => json['id'])).toEqual(page(150, 1, '').map(({ id }) => id))
  })

  it('have both sides of a transfer, which share an id', async () => {
    const transactions = [1, 2].map((balanceAfter) => ({ id: 'tr_1', balanceAfter }))
    const parameters = { resource: 'wallet', operation: 'transactions', returnAll: true }
    const done = await execute({ parameters, answers: [ok({ transactions, total: 2 })] })
    expect(done.items.map(({ json }) => json)).toEqual(transactions)
  })
})

function ok(body: unknown): ServiceAnswer {
  return { status: 200, body }
}
