import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import { NETWORKS } from '../../service/chain/networks.ts'
import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import type { Service } from '../../service/wiring/compose.ts'
import type { Caller } from '../../service/kit/caller.ts'
import type { Id } from '../../service/kit/ids.ts'
import type { Refund } from '../../service/refunds/model.ts'
import { ownAuthorization } from '../../service/refunds/rules.ts'
import { accountOf } from '../harness/chain.ts'

type Refunding = Pick<Service, 'payments'>

export async function requestOwn(service: Refunding, caller: Caller, paymentId: string, operation: Id<'op'>) {
  const input = {
    paymentId,
    amount: null,
    reason: 'Not as described',
    from: 'own',
    keyHash: null,
    mayHaveBegun: false,
  } as const
  return (await service.payments.refund(caller, input, operation)).refund
}

/** Signs what the refund asks for, and hands it in. */
export async function signOwn(
  service: Pick<Service, 'payments' | 'refunds' | 'database'>,
  caller: Caller,
  id: Refund['id'],
  key: Hex,
) {
  const [row] = await service.database.statements.run<{ sale_id: string }>('SELECT sale_id FROM refund WHERE id = $1', [
    id,
  ])
  const { sale, refunds } = await service.payments.get(caller, row!.sale_id)
  const refund = refunds.find((each) => each.id === id)!
  const { to, ...terms } = ownAuthorization(refund, sale)
  const { signature } = await accountOf(key).authorize(NETWORKS[sale.network], to, terms)
  return await service.payments.sign(caller, { paymentId: sale.id, refundId: id, signature })
}

/** What the API says is to be signed, as a test account signs it. `over` is what a thief changes. */
export async function signed(
  toSign: ToSign,
  key: Hex,
  over: Partial<Omit<SignedAuthorization, 'signature'>> = {},
  chainId = toSign.domain.chainId,
): Promise<Hex> {
  const { to, value, validBefore, nonce } = toSign.message
  const network = Object.values(NETWORKS).find((each) => each.chainId === chainId)!
  const terms = { value: BigInt(value), validBefore: BigInt(validBefore), nonce, ...over }
  return (await accountOf(key).authorize(network, over.to ?? to, terms)).signature
}

export interface ToSign {
  domain: { chainId: number }
  message: { from: Hex; to: Hex; value: string; validBefore: string; nonce: Hex }
}

export const randomAddress = (): Hex => toHex(randomBytes(20))
