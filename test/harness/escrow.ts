import { randomBytes } from 'node:crypto'
import {
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  pad,
  parseAbi,
  toHex,
  zeroAddress,
  type Abi,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Call } from '../../service/chain/model.ts'
import { PLACES } from '../chain/contracts/places.ts'
import type { TestAccount, TestChain } from './chain.ts'

/** The escrow's struct as a program of somebody else writes it: with viem, and none of the service's own encoding. */
export interface Info {
  operator: Hex
  payer: Hex
  receiver: Hex
  token: Hex
  maxAmount: bigint
  preApprovalExpiry: number
  authorizationExpiry: number
  refundExpiry: number
  minFeeBps: number
  maxFeeBps: number
  feeReceiver: Hex
  salt: Hex
}

const FIELDS =
  'address operator, address payer, address receiver, address token, uint120 maxAmount, uint48 preApprovalExpiry, uint48 authorizationExpiry, uint48 refundExpiry, uint16 minFeeBps, uint16 maxFeeBps, address feeReceiver, uint256 salt'

const ESCROW_ABI = parseAbi([
  `struct PaymentInfo { ${FIELDS}; }`.replaceAll(', ', '; '),
  'function authorize(PaymentInfo info, uint256 amount, address collector, bytes data)',
  'function charge(PaymentInfo info, uint256 amount, address collector, bytes data, uint256 fee, address feeReceiver)',
  'function capture(PaymentInfo info, uint256 amount, uint256 fee, address feeReceiver)',
  'function void(PaymentInfo info)',
  'function refund(PaymentInfo info, uint256 amount, address collector, bytes data)',
  'function reclaim(PaymentInfo info)',
  'function getHash(PaymentInfo info) view returns (bytes32)',
  'function paymentState(bytes32 hash) view returns (bool collected, uint120 capturable, uint120 refundable)',
] as const)

export function hashOf(chainId: number, info: Info): Hex {
  const type = keccak256(toHex(`PaymentInfo(${FIELDS.replaceAll(', ', ',')})`))
  const types = ['bytes32', ...FIELDS.split(', ').map((field) => field.split(' ')[0]!)].map((each) => ({ type: each }))
  const contents = keccak256(encodeAbiParameters(types, [type, ...Object.values(withSalt(info))]))
  return keccak256(
    encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'address' }, { type: 'bytes32' }],
      [BigInt(chainId), PLACES.escrow, contents],
    ),
  )
}

function withSalt(info: Info) {
  return { ...info, salt: BigInt(info.salt) }
}

type Operation = 'authorize' | 'charge' | 'capture' | 'void' | 'refund' | 'reclaim'

/** A call of the escrow: the payment's struct first, then what the operation takes. */
export function escrowCall(operation: Operation, info: Info, ...rest: readonly unknown[]): Call {
  const abi: Abi = ESCROW_ABI
  return {
    to: PLACES.escrow,
    data: encodeFunctionData({ abi, functionName: operation, args: [withSalt(info), ...rest] }),
  }
}

export async function escrowed(chain: TestChain, info: Info) {
  const hash = hashOf(chain.network.chainId, info)
  const data = encodeFunctionData({ abi: ESCROW_ABI, functionName: 'paymentState', args: [hash] })
  const answer = (await chain.call('eth_call', { to: PLACES.escrow, data }, 'latest')) as Hex
  const [collected, capturable, refundable] = [0, 1, 2].map((place) =>
    BigInt(`0x${answer.slice(2).slice(place * 64, place * 64 + 64)}`),
  )
  return { collected: collected === 1n, capturable, refundable }
}

/** The payer takes back what waits, with no part of this service. Returns the status of the transaction. */
export async function reclaim(
  chain: TestChain,
  { payer, info }: { payer: { address: Hex }; info: Info },
): Promise<Hex> {
  await chain.call('anvil_setBalance', payer.address, '0xde0b6b3a7640000')
  await chain.call('anvil_impersonateAccount', payer.address)
  const call = { from: payer.address, ...escrowCall('reclaim', info), gas: '0x493e0' }
  return await mined(chain, (await chain.call('eth_sendTransaction', call)) as Hex)
}

/** Waits until a transaction is in a block, and returns its status: on a busy machine the block comes after the answer. */
export async function mined(chain: TestChain, hash: Hex): Promise<Hex> {
  for (;;) {
    const receipt = (await chain.call('eth_getTransactionReceipt', hash)) as { status: Hex } | null
    if (receipt !== null) return receipt.status
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export interface EscrowTerms {
  network: string
  scheme: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: Record<string, unknown> & {
    captureAuthorizer: Hex
    receiverAuthorizer?: Hex
    captureDeadline: number
    refundDeadline: number
    feeRecipient: Hex
    minFeeBps: number
    maxFeeBps: number
  }
}

/** What a seller asks for; by default one USDC that waits for an hour and is bound to its signer. */
export function escrowTerms(
  chain: TestChain,
  { operator, receiver, signer }: { operator: Hex; receiver: Hex; signer?: Hex },
  other: { amount?: bigint; extra?: Record<string, unknown>; now?: number } = {},
): EscrowTerms {
  const { caip2, usdc } = chain.network
  const now = other.now ?? Math.floor(Date.now() / 1000)
  return {
    scheme: 'auth-capture',
    network: caip2,
    amount: String(other.amount ?? 1_000_000n),
    asset: usdc.checksummed,
    payTo: receiver,
    maxTimeoutSeconds: 300,
    extra: {
      name: usdc.name,
      version: usdc.version,
      captureAuthorizer: operator,
      ...(signer === undefined ? {} : { receiverAuthorizer: signer }),
      captureDeadline: now + 3_600,
      refundDeadline: now + 7_200,
      feeRecipient: zeroAddress,
      minFeeBps: 0,
      maxFeeBps: 0,
      paymentFlow: 'escrow',
      ...other.extra,
    },
  }
}

/**
 * What the payer agrees to and signs, as the stock client makes it. `boundTo`: the payer binds the payment to a key of
 * its own choice, where the terms name none.
 */
export async function payEscrow(
  chain: TestChain,
  payer: Pick<TestAccount, 'address' | 'authorize'>,
  terms: EscrowTerms,
  { now, boundTo }: { now?: number; boundTo?: Hex } = {},
) {
  const { extra } = terms
  const saltNonce = toHex(randomBytes(32))
  const bound = extra.receiverAuthorizer !== undefined
  const authorizer = boundTo ?? extra.receiverAuthorizer
  const salt = authorizer === undefined ? saltNonce : boundSalt(authorizer, saltNonce)
  const validBefore = (now ?? Math.floor(Date.now() / 1000)) + terms.maxTimeoutSeconds
  const info: Info = {
    operator: extra.captureAuthorizer,
    payer: payer.address,
    receiver: terms.payTo as Hex,
    token: terms.asset as Hex,
    maxAmount: BigInt(terms.amount),
    preApprovalExpiry: validBefore,
    authorizationExpiry: extra.captureDeadline,
    refundExpiry: extra.refundDeadline,
    minFeeBps: extra.minFeeBps,
    maxFeeBps: extra.maxFeeBps,
    feeReceiver: extra.feeRecipient,
    salt,
  }
  const nonce = hashOf(chain.network.chainId, { ...info, payer: zeroAddress })
  const authorization = { value: info.maxAmount, validAfter: 0n, validBefore: BigInt(validBefore), nonce }
  const { signature, ...signed } = await payer.authorize(chain.network, PLACES.collector, authorization)
  const written = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, String(value)]))
  const payload = { authorization: written, signature, salt, ...(bound ? { saltNonce } : {}) }
  return { info, saltNonce, nonce, signature, body: escrowBody(terms, payload) }
}

export type EscrowPaid = Awaited<ReturnType<typeof payEscrow>>

function boundSalt(authorizer: Hex, saltNonce: Hex): Hex {
  const type = keccak256(
    toHex('x402AuthCaptureSaltBinding(address receiverAuthorizer,address policy,uint256 saltNonce)'),
  )
  const types = ['bytes32', 'address', 'address', 'uint256'].map((each) => ({ type: each }))
  return keccak256(encodeAbiParameters(types, [type, authorizer, zeroAddress, BigInt(saltNonce)]))
}

/** A request to a facilitator. */
export function escrowBody(terms: EscrowTerms, payload: Record<string, unknown>) {
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: terms, payload },
    paymentRequirements: terms,
  }
}

export interface Expected {
  capturable: bigint
  refundable: bigint
}

/** Signs a seller's messages to its operator. */
export function seller(chain: TestChain, signer: TestAccount, operator: Hex) {
  const account = privateKeyToAccount(signer.privateKey)
  const domain = {
    name: 'x402 Auth Capture Operator',
    version: '1',
    chainId: chain.network.chainId,
    verifyingContract: operator,
  }
  const word = <Name extends string>(name: Name) => ({ name, type: 'uint256' }) as const
  const paymentInfoHash = { name: 'paymentInfoHash', type: 'bytes32' } as const
  const common = ({ info, saltNonce }: EscrowPaid) => ({
    paymentInfo: { ...info, maxAmount: String(info.maxAmount), salt: pad(info.salt, { size: 32 }) },
    saltNonce,
  })
  const signVoid = ({ info }: EscrowPaid) =>
    account.signTypedData({
      domain,
      types: { Void: [paymentInfoHash] },
      primaryType: 'Void',
      message: { paymentInfoHash: hashOf(chain.network.chainId, info) },
    })
  return {
    async capture(paid: EscrowPaid, amount: bigint, expected: Expected, more: { voids?: boolean; fee?: bigint } = {}) {
      const { info } = paid
      const feeAmount = more.fee ?? 0n
      const authorizerSignature = await account.signTypedData({
        domain,
        types: {
          Capture: [
            paymentInfoHash,
            word('amount'),
            word('feeAmount'),
            { name: 'feeReceiver', type: 'address' },
            word('expectedCapturableAmount'),
            word('expectedRefundableAmount'),
          ],
        },
        primaryType: 'Capture',
        message: {
          paymentInfoHash: hashOf(chain.network.chainId, info),
          amount,
          feeAmount,
          feeReceiver: info.feeReceiver,
          expectedCapturableAmount: expected.capturable,
          expectedRefundableAmount: expected.refundable,
        },
      })
      return {
        type: 'capture',
        ...common(paid),
        amount: String(amount),
        feeAmount: String(feeAmount),
        feeReceiver: info.feeReceiver,
        expectedCapturableAmount: String(expected.capturable),
        expectedRefundableAmount: String(expected.refundable),
        authorizerSignature,
        ...(more.voids === true ? { voidAuthorizerSignature: await signVoid(paid) } : {}),
      }
    },
    void: async (paid: EscrowPaid) => ({
      type: 'void',
      ...common(paid),
      authorizerSignature: await signVoid(paid),
    }),
  }
}
