import { CoinslotError } from './errors.ts'
import type { RequestOptions, Transport } from './request.ts'

/** One page of a list, which is also a way through all its pages: `for await (const payment of …list())`. */
export interface Page<Item> extends AsyncIterable<Item> {
  readonly items: readonly Item[]
  /** How many there are on all pages. */
  readonly total: number
}

/** Awaited, it is the first page; iterated, it is every item of every page. */
export interface List<Item> extends PromiseLike<Page<Item>>, AsyncIterable<Item> {}

export function list<Item>(transport: Transport, wanted: ListRequest, options: RequestOptions = {}): List<Item> {
  const query = { ...wanted.query } as { limit?: number; offset?: number }
  const load = async (offset: number): Promise<Page<Item>> => {
    const request = { ...options, method: 'GET', path: wanted.path, query: { ...query, offset } }
    const body = await transport.send<Record<string, unknown>>(request)
    const items = body[wanted.field] as readonly Item[] | undefined
    if (!Array.isArray(items)) {
      throw new CoinslotError('The answer is no list. Check that baseUrl is the address of a Coinslot server.', {
        code: 'unexpected_answer',
      })
    }
    const page = { items, total: body['total'] as number }
    return { ...page, [Symbol.asyncIterator]: () => through(page, offset) }
  }
  async function* through(first: Pick<Page<Item>, 'items' | 'total'>, begin: number): AsyncGenerator<Item> {
    let page = first
    let offset = begin
    for (;;) {
      yield* page.items
      offset += page.items.length
      // A list that shrinks meanwhile ends with an empty page.
      if (page.items.length === 0 || offset >= page.total) return
      page = await load(offset)
    }
  }
  return {
    // So that `await list()` is the first page.
    then: (resolve, reject) => load(query.offset ?? 0).then(resolve, reject),
    async *[Symbol.asyncIterator]() {
      yield* await load(query.offset ?? 0)
    },
  }
}

interface ListRequest {
  path: string
  /** The name of the items in the answer. */
  field: string
  query: object | undefined
}
