import { testService } from '../../harness/service.ts'
import { walletKeys } from '../../wallet/world.ts'
import { addSale, refund, rich } from '../../refunds/sales.ts'

/**
 * A thief with a seller's key could pay from one address to another of their own, and refund from the wallet. So the list
 * binds a refund unless what was paid reached this very wallet.
 */
test('POST /payments/{id}/refund → 403: a payer outside the list, unless the wallet received the payment', async () => {
  const { WALLET_XPUB } = await walletKeys()
  const service = await testService({ WITHDRAWAL_ALLOW_LIST: `0x${'c1'.repeat(20)}`, WALLET_XPUB })
  const [person, other] = [await rich(service, 10), await service.person()]
  const addressOf = async ({ caller }: typeof person) =>
    (await service.wallets.depositAddress({ userId: caller.user.id, environment: 'sandbox' }))!
  for (const recipient of [`0x${'a1'.repeat(20)}`, await addressOf(other), service.wallets.treasury()!]) {
    const { status, body } = await refund(person, await addSale(service, person, { recipient }), {})
    expect([status, body.code]).toEqual([403, 'recipient_not_allowed'])
  }
  const own = await addSale(service, person, { recipient: await addressOf(person) })
  expect((await refund(person, own, {})).body.refund).toMatchObject({ state: 'funded' })
  const listed = await addSale(service, person, { payer: `0x${'c1'.repeat(20)}` })
  expect((await refund(person, listed, {})).body.refund).toMatchObject({ state: 'funded' })
  await service.close()
})
