import { encodeTransfer } from '../../service/chain/calldata.ts'
import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import type { TestAccount, TestChain } from './chain.ts'
import { payEscrow, type EscrowTerms } from './escrow.ts'
import { answerTo, challengeIn } from './mpp.ts'
import { answerOf, type Answer } from './service.ts'

/** Of x402, or of MPP. */
export type Version = 1 | 2 | 'mpp'

export interface Wallet {
  chain: TestChain
  payer: TestAccount
  version?: Version
  /** Other terms than those that are asked for. */
  terms?: Record<string, unknown>
}

/** Asks for the price, signs it, and asks again: one purchase. */
export async function buy(wallet: Wallet, url: string, request: RequestInit): Promise<Answer> {
  return await answerOf(await fetch(url, await signedRequest(wallet, url, request)))
}

/** The request with what the wallet signs for its 402. */
export async function signedRequest(
  { chain, payer, version, terms }: Wallet,
  url: string,
  request: RequestInit,
): Promise<RequestInit> {
  const unpaid = await answerOf(await fetch(url, request))
  if (unpaid.status !== 402) throw new Error(`${url} answers ${String(unpaid.status)} ${unpaid.text}`)
  const { header, value } = await signFor(chain, payer, unpaid, version, terms)
  return { ...request, headers: { ...(request.headers as Record<string, string>), [header]: value } }
}

export interface Payment {
  header: 'X-PAYMENT' | 'PAYMENT-SIGNATURE' | 'Authorization' | 'Payment-Authorization'
  value: string
}

/** What a wallet makes of a 402: the money moves at once, or into the escrow where that is asked for. */
export async function signFor(
  chain: TestChain,
  payer: TestAccount,
  required: Pick<Answer, 'headers' | 'body'>,
  version: Version = 2,
  terms: Record<string, unknown> = {},
): Promise<Payment> {
  if (version === 'mpp') return await answerTo(payer, chain.network, challengeIn(required.headers), terms)
  const [v1] = required.body.accepts
  const v2 = JSON.parse(Buffer.from(required.headers.get('payment-required')!, 'base64').toString()).accepts[0]
  if (v2.scheme === 'auth-capture') {
    const { body } = await payEscrow(chain, payer, v2 as EscrowTerms)
    return { header: 'PAYMENT-SIGNATURE', value: encoded(body.paymentPayload) }
  }
  const { signature, ...rest } = await payer.authorize(chain.network, String(v2.payTo).toLowerCase() as Hex, {
    value: BigInt(v2.amount as string),
    ...terms,
  })
  const authorization = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]))
  const payload = { signature, authorization }
  const payment =
    version === 1
      ? { x402Version: 1, scheme: 'exact', network: v1.network, payload }
      : { x402Version: 2, accepted: v2, payload }
  return {
    header: version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE',
    value: encoded(payment),
  }
}

/** A stranger submits what a wallet signed: the money moves, and this service is not asked. */
export async function submit(chain: TestChain, payment: string): Promise<void> {
  const { payload } = JSON.parse(Buffer.from(payment, 'base64').toString()) as {
    payload: { signature: Hex; authorization: Record<string, string> }
  }
  const { value = '', validAfter = '', validBefore = '', ...rest } = payload.authorization
  const whole = { value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
  const to = chain.network.usdc.address
  const { data } = encodeTransfer(to, { ...rest, ...whole, signature: payload.signature } as SignedAuthorization, false)
  const from = chain.accounts[1]!.address
  await chain.call('anvil_impersonateAccount', from)
  await chain.call('eth_sendTransaction', { from, to, data, gas: '0x493e0' })
  await chain.mine(1)
}

export function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
