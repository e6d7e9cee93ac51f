import { setTimeout as wait } from 'node:timers/promises'
import { escrowBody, payEscrow, seller, type EscrowTerms } from '../../../harness/escrow.ts'
import { newToken } from '../../token.ts'
import { call } from '../call.ts'
import { WORK_MS } from '../strangers.ts'
import type { Robbery } from './book.ts'

/**
 * Pays into the escrow, bound to a key of its own, and has that key ask for the money while the seller works: all of it
 * back, or the smallest part captured and the rest back.
 */
export async function takeBack({ world, book, chance }: Robbery): Promise<void> {
  const { goods, chain, thief, topology } = world
  const [payer, key] = [await chain.payer(goods.prices.escrow), chance.of(thief.payers)]
  const name = book.nextName('escrow')
  const view = await call(topology.origin, thief.key, 'GET', `/p/${goods.escrow}`).catch(() => null)
  const terms = view?.paymentRequirements?.v2 as EscrowTerms | undefined
  if (terms === undefined) return
  const paid = await payEscrow(chain, payer, terms, { boundTo: key.address })
  const { paymentPayload } = paid.body
  const purchase = book.send(book.begin('escrow', name, { payer: payer.address, nonce: paid.nonce }), {
    method: 'POST',
    path: `/p/${goods.escrow}/pay`,
    body: { input: { act: name }, paymentPayload, token: newToken() },
  })
  const claimed = { ...terms, extra: { ...terms.extra, receiverAuthorizer: key.address } }
  const by = seller(chain, key, terms.extra.captureAuthorizer)
  const all = { capturable: goods.prices.escrow, refundable: 0n }
  const payload = chance.of([await by.void(paid), await by.capture(paid, 100n, all, { voids: true })])
  const theft = book.begin('take-back', book.nextName('take-back'), null)
  const body = escrowBody(claimed, payload)
  // From the first block that has the money until the seller has it.
  for (const deadline = Date.now() + WORK_MS + 6_000; Date.now() < deadline;) {
    await book.send(theft, { method: 'POST', path: '/facilitator/settle', body })
    await wait(300)
  }
  await purchase
}

/** Empties a stolen account into another one here: runs of an asset whose creator is an accomplice, several at once. */
export async function spendOut({ world, book }: Robbery): Promise<void> {
  const { goods, thief } = world
  const headers = { authorization: `Bearer ${thief.key}` }
  await Promise.all(
    [1, 2].map(() => {
      const name = book.nextName('spend-out')
      const body = { rdaSlug: goods.dearAsset, inputs: { topic: name } }
      return book.send(book.begin('spend-out', name, 'account'), { method: 'POST', path: '/v1/run', headers, body })
    }),
  )
}
