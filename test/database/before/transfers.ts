import { randomBytes } from 'node:crypto'
import type { Hex } from '../../../service/chain/model.ts'
import { newId } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { findTransfers } from '../../../service/transfers/store.ts'
import type { TestChain } from '../../harness/chain.ts'
import type { TestPerson, TestService } from '../../harness/service.ts'
import type { Seller } from '../../outgoing-payments/seller.ts'
import { requestOwn, signOwn } from '../../refunds/own.ts'
import { addSale } from '../../refunds/sales.ts'
import { send } from '../../wallet/world.ts'
import type { Places } from './places.ts'

const MILLION = 1_000_000n

/** A person with a hundred dollars. */
export async function depositor(service: TestService, chain: TestChain): Promise<TestPerson> {
  const person = await service.person({ environment: 'production' })
  const owner = { userId: person.caller.user.id, environment: 'production' } as const
  await send(chain, [{ to: (await service.wallets.depositAddress(owner))!, value: 100n * MILLION }])
  await chain.mine(3)
  service.clock.forward(1_000)
  for (const { turn } of service.wallets.monitors) await turn(service.clock.now(), new AbortController().signal)
  return person
}

const address = (): Hex => `0x${randomBytes(20).toString('hex')}`

export async function withdrawals(service: TestService, { caller }: TestPerson, places: Places): Promise<void> {
  const { withdrawals: made, payouts } = service.wallets
  const withdraw = () =>
    made.withdraw(caller, { to: address(), amount: usdc(MILLION) }, newId('op', service.clock.now()))
  await payouts.step((await withdraw()).id)
  for (const place of ['withdrawal submitted', 'withdrawal settled']) {
    const { id } = await withdraw()
    await places.stop(place, () => payouts.step(id))
  }
  await places.stop('withdrawal locked', withdraw)
}

export async function refunds(
  service: TestService,
  person: TestPerson,
  chain: TestChain,
  places: Places,
): Promise<void> {
  const { caller } = person
  const operation = () => newId('op', service.clock.now())
  const by = { amount: null, reason: null, by: 'seller', owner: null } as const
  const wallet = await chain.payer(100n * MILLION)
  const sold = () => addSale(service, person, { amount: 4_000_000, recipient: wallet.address })
  const saleId = await sold()
  await places.stop('refund requested', () => service.refunds.request({ ...by, saleId }, operation()))
  const own = async () => await requestOwn(service, caller, await sold(), operation())
  await own()
  for (const place of ['refund signed', 'refund settled']) {
    const { id } = await own()
    await places.stop(place, () => signOwn(service, caller, id, wallet.privateKey))
  }
}

export async function paidCalls(
  service: TestService,
  { caller }: TestPerson,
  seller: Seller,
  places: Places,
): Promise<void> {
  // Those of one moment are funded together: the last one stands still there.
  for (const place of ['reserved', 'transferred', 'signed', 'sent', 'answered', 'settled', 'funding']) {
    const request = {
      url: seller.url(`/v2/${place}`),
      method: 'GET',
      headers: {},
      body: null,
      maxAmount: usdc(MILLION),
    }
    const operation = newId('op', service.clock.now())
    const options = { keyed: true, background: false }
    await places.stop(`outgoing payment ${place}`, () =>
      service.outgoingPayments.pay(caller, request, operation, options),
    )
  }
}

export async function orders(
  service: TestService,
  person: TestPerson,
  chain: TestChain,
  places: Places,
): Promise<void> {
  const terms = { product: { name: 'A report' }, price: 1, network: 'base', recipient: chain.accounts[3]!.address }
  const body = { ...terms, callbackUrl: 'http://127.0.0.1/hook' }
  const { checkout } = (await person.call('POST', '/v1/checkouts', { body })).body as { checkout: { id: string } }
  const order = async (amount: bigint) => {
    const made = await service.call('POST', `/p/${checkout.id}/addresses`, { body: {} })
    const { address: of, token } = made.body as { address: { id: string; address: Hex }; token: string }
    await send(chain, [{ to: of.address, value: amount }])
    await chain.mine(3)
    return { path: `/p/${checkout.id}/addresses/${of.id}`, token }
  }
  const turn = async () => {
    service.clock.forward(3_000)
    for (const { run } of service.paymentAddresses.sweepers) await run(new AbortController().signal)
  }
  await order(400_000n)
  const less = await order(300_000n)
  await turn()
  await order(MILLION)
  await places.stop('payment address bought', turn)
  await order(MILLION)
  await places.stop('payment address begun', turn)
  const headers = { 'X-Payment-Token': less.token }
  const back = await service.call('POST', `${less.path}/return`, { body: { to: address() }, headers })
  if (back.status !== 200) throw new Error(back.text)
  await places.stop('payment address return signed', turn)
}

export const openOf = (service: TestService) => findTransfers(service.database.statements, { limit: 1_000 })

export function statesOf(transfers: Awaited<ReturnType<typeof openOf>>): Record<string, string[]> {
  const states: Record<string, string[]> = {}
  for (const { kind, state, settlement } of transfers) {
    ;(states[kind] ??= []).push(settlement === null ? state : `${state}, ${settlement}`)
  }
  return states
}

/** What has not ended when the version before stands still. */
export const TRANSFERS = {
  withdrawal: ['sent, settled', 'sent', 'sent, settled', 'waiting'],
  refund: ['waiting'],
  refund_own: ['waiting', 'sent', 'sent, settled'],
  payment: ['waiting', 'waiting', 'signed', 'sent', 'sent, settled', 'waiting'],
  funding: ['sent, settled', 'sent'],
  return: ['sent'],
  // Of the deposits of two accounts.
  sweep: ['sent, claimed', 'sent, claimed'],
}

/** In which states all have ended. */
export const ENDS = {
  // With the payouts of two refunds.
  wallet_withdrawal: { confirmed: 6 },
  // Nobody signed one of them. Two had ended before, one of them in test mode.
  refund: { confirmed: 5, failed: 1 },
  // The seller has settled two. The others it never saw.
  spending_payment: { returned: 5, settled: 2 },
  // Of one only a part has arrived.
  payment_address: { closed: 1, open: 1, paid: 2 },
  payment_address_return: { settled: 1 },
  wallet_sweep: { settled: 2 },
}
