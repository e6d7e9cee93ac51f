import { randomBytes, randomUUID } from 'node:crypto'
import { encodeFunctionData, maxUint256, parseAbi, toHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Facilitator } from '../../service/facilitator/service/facilitator.ts'
import { toRequest } from '../../service/x402/payload.ts'
import { paymentRequest } from '../../service/x402/schema.ts'
import { PLACES } from '../chain/contracts/places.ts'
import type { TestAccount, TestChain } from './chain.ts'
import { until } from './until.ts'

/** The seller's terms of the scheme `upto`; by default one USDC at the most. */
export function uptoTerms(
  chain: TestChain,
  { facilitator, receiver, most = 1_000_000n }: { facilitator: Hex; receiver: Hex; most?: bigint },
) {
  const { caip2, usdc } = chain.network
  return {
    scheme: 'upto',
    network: caip2,
    amount: String(most),
    asset: usdc.checksummed,
    payTo: receiver,
    maxTimeoutSeconds: 300,
    extra: {
      name: usdc.name,
      version: usdc.version,
      assetTransferMethod: 'permit2',
      facilitatorAddress: facilitator,
    },
  }
}

export type UptoTerms = ReturnType<typeof uptoTerms>

interface Signing {
  nonce?: bigint
  deadline?: bigint
  validAfter?: bigint
  spender?: Hex
  to?: Hex
  facilitator?: Hex
  token?: Hex
  amount?: bigint
  /** A contract wallet for which the account signs. */
  from?: Hex
  /** Also permits Permit2 to move the token (EIP-2612): `wrong` with one field that does not fit. */
  sponsored?: boolean | Sponsored
}

interface Sponsored {
  value?: bigint
  spender?: Hex
  deadline?: bigint
  /** The signature is not the payer's. */
  signedBy?: 'another'
}

/** What a payer sends, signed with viem and none of the service's own encoding. */
export async function payUpto(chain: TestChain, account: TestAccount, terms: UptoTerms, signing: Signing = {}) {
  const signer = privateKeyToAccount(account.privateKey)
  const { chainId, usdc } = chain.network
  const permit = {
    nonce: BigInt(toHex(randomBytes(32))),
    deadline: BigInt(Math.floor(Date.now() / 1000) + 300),
    validAfter: 0n,
    spender: PLACES.uptoProxy,
    to: terms.payTo,
    facilitator: terms.extra.facilitatorAddress,
    token: usdc.address,
    amount: BigInt(terms.amount),
    ...signing,
  }
  const { nonce, deadline, validAfter, spender, to, facilitator, token, amount } = permit
  const signature = await signer.signTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: PLACES.permit2 },
    types: PERMIT,
    primaryType: 'PermitWitnessTransferFrom',
    message: { permitted: { token, amount }, spender, nonce, deadline, witness: { to, facilitator, validAfter } },
  })
  const payload = {
    signature,
    permit2Authorization: {
      from: signing.from ?? signer.address,
      permitted: { token, amount: String(amount) },
      spender,
      nonce: String(nonce),
      deadline: String(deadline),
      witness: { to, facilitator, validAfter: String(validAfter) },
    },
  }
  const { sponsored = true } = signing
  const info = sponsored === false ? null : await sponsor(chain, account, amount, sponsored === true ? {} : sponsored)
  const extensions = info === null ? {} : { extensions: { eip2612GasSponsoring: { info } } }
  return { nonce, body: uptoBody(terms, payload, extensions), payload, extensions }
}

/** `taken`: what is settled, at most what was signed for. */
export function uptoBody(terms: UptoTerms, payload: unknown, extensions: object, taken: bigint | null = null) {
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: 'https://seller.example/metered', description: 'By use', mimeType: 'application/json' },
      accepted: terms,
      payload,
      ...extensions,
    },
    paymentRequirements: { ...terms, amount: taken === null ? terms.amount : String(taken) },
  }
}

/** Asks as this service's own sales do: callers from outside are refused. Each settlement is another sale's. */
export function ownSale(facilitator: Pick<Facilitator, 'verify' | 'settle'>) {
  const read = (body: unknown) => toRequest(paymentRequest.parse(body))
  return {
    verify: (body: unknown) => facilitator.verify(read(body)),
    settle: (body: unknown, waitMs?: number) =>
      facilitator.settle(read(body), {
        operation: randomUUID(),
        ownsResult: true,
        ...(waitMs === undefined ? {} : { waitMs }),
      }),
  }
}

async function sponsor(chain: TestChain, account: TestAccount, amount: bigint, other: Sponsored) {
  const signer = privateKeyToAccount(other.signedBy === 'another' ? generatePrivateKey() : account.privateKey)
  const { chainId, usdc } = chain.network
  const { value = amount, spender = PLACES.permit2, deadline = BigInt(Math.floor(Date.now() / 1000) + 300) } = other
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'nonces', args: [account.address] })
  const nonce = BigInt((await chain.call('eth_call', { to: usdc.address, data }, 'latest')) as Hex)
  const signature = await signer.signTypedData({
    domain: { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address },
    types: TOKEN_PERMIT,
    primaryType: 'Permit',
    message: { owner: account.address, spender, value, nonce, deadline },
  })
  return {
    from: account.address,
    asset: usdc.checksummed,
    spender,
    amount: String(value),
    nonce: String(nonce),
    deadline: String(deadline),
    signature,
    version: '1',
  }
}

/** The facilitator's call that takes so much of a permit. */
export function settleCall({ signature, permit2Authorization }: UptoPayload, taken: bigint): { to: Hex; data: Hex } {
  const { from, permitted, nonce, deadline, witness } = permit2Authorization
  const { token, amount } = permitted
  const data = encodeFunctionData({
    abi: PROXY,
    functionName: 'settle',
    args: [
      { permitted: { token, amount: BigInt(amount) }, nonce: BigInt(nonce), deadline: BigInt(deadline) },
      taken,
      from,
      { ...witness, validAfter: BigInt(witness.validAfter) },
      signature,
    ],
  })
  return { to: PLACES.uptoProxy, data }
}

type UptoPayload = Awaited<ReturnType<typeof payUpto>>['payload']

/** A transaction of the payer's own, which needs no signature here, once it is in a block. */
export async function sendAs(chain: TestChain, from: Hex, call: { to: Hex; data: Hex }): Promise<void> {
  await chain.call('anvil_setBalance', from, toHex(10n ** 18n))
  await chain.call('anvil_impersonateAccount', from)
  const hash = await chain.call('eth_sendTransaction', { from, ...call, gas: toHex(1_000_000) })
  const { status } = await until(async () => (await chain.call('eth_getTransactionReceipt', hash)) as Receipt | null)
  if (status !== '0x1') throw new Error('a transaction of a test was reverted')
}

interface Receipt {
  status: Hex
}

/** Lets Permit2 move all that the account has. */
export function approval(chain: TestChain): { to: Hex; data: Hex } {
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [PLACES.permit2, maxUint256] })
  return { to: chain.network.usdc.address, data }
}

/** Takes a permit back. */
export function invalidation(nonce: bigint): { to: Hex; data: Hex } {
  const args = [nonce >> 8n, 1n << (nonce & 255n)] as const
  return {
    to: PLACES.permit2,
    data: encodeFunctionData({ abi: PERMIT2, functionName: 'invalidateUnorderedNonces', args }),
  }
}

const PERMIT = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'facilitator', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const

const TOKEN_PERMIT = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

const TOKEN = parseAbi([
  'function nonces(address owner) view returns (uint256)',
  'function approve(address spender, uint256 value) returns (bool)',
])
const PROXY = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
])
const PERMIT2 = parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)'])
