import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import { GIANT } from '../strangers.ts'
import type { Robbery } from './book.ts'

/** Fills the queue of background runs with work that never answers. */
export async function flood({ world, book }: Robbery): Promise<void> {
  const { key, hanging } = world.thief
  const headers = { authorization: `Bearer ${key}` }
  await Promise.all(
    Array.from({ length: 6 }, () => {
      const name = book.nextName('flood')
      const body = { rdaSlug: hanging, inputs: { topic: name }, async: true }
      return book.send(book.begin('flood', name, 'account'), { method: 'POST', path: '/v1/run', headers, body })
    }),
  )
}

/** Takes money out: dust that costs more gas than it is worth, and more than may leave in a day. */
export async function takeOut({ world, book, chance }: Robbery): Promise<void> {
  const amount = chance.of([0.000001, 0.0001, 250, 400])
  const headers = { authorization: `Bearer ${world.thief.key}` }
  // Two at once, on two processes: a limit is one for all. Each to an address of its own, by which the checker knows it.
  await Promise.all(
    [1, 2].map(() => {
      const body = { amount, to: toHex(randomBytes(20)) }
      const theft = book.begin('withdraw', book.nextName('withdraw'), 'account')
      return book.send(theft, { method: 'POST', path: '/v1/wallet/withdraw', headers, body })
    }),
  )
}

/** The bodies that are worst for their readers, as large as they may be. */
export async function stuff({ world, book, chance }: Robbery): Promise<void> {
  const size = chance.whole(40_000, 250_000)
  const raw = chance.of([
    `{"a":1${'0'.repeat(size)}1}`,
    `{"a":1.${'0'.repeat(size)}1}`,
    '['.repeat(size),
    '{"a":'.repeat(size / 5),
    `{"rdaSlug":"${'a-'.repeat(size / 2)}"}`,
    `[1${',1'.repeat(size / 2)}]`,
  ])
  const { goods, thief } = world
  const path = chance.of([
    ...['/v1/run', '/v1/rda', '/v1/pay', '/v1/wallet/withdraw', '/tools/mcp', '/facilitator/settle'],
    ...[`/p/${goods.checkout}/pay`, `/tools/pay/${goods.tool}`, `/tools/${goods.tool}`],
  ])
  const headers = { authorization: `Bearer ${thief.key}`, accept: 'application/json, text/event-stream' }
  await book.send(book.begin('stuff', book.nextName('stuff'), null), { method: 'POST', path, headers, raw })
}

/** Has the catalogue read a document of a thousand operations. */
export async function importGiant({ world, book }: Robbery): Promise<void> {
  const { key, sink } = world.thief
  const name = book.nextName('stuff')
  const body = { kind: 'openapi', slug: `giant-${randomBytes(4).toString('hex')}`, address: `${sink.origin}${GIANT}` }
  const headers = { authorization: `Bearer ${key}` }
  await book.send(book.begin('stuff', name, null), { method: 'POST', path: '/trpc/tools.import', headers, body })
}
