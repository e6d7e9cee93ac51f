import { ZERO_ADDRESS } from '../kit/address.ts'
import { encodeAuthorizationState, encodeBalanceOf } from './calldata.ts'
import type { Keccak } from './curve.ts'
import { findCapture } from './events.ts'
import type {
  Address,
  Call,
  Chain,
  EscrowCall,
  EscrowChain,
  EscrowHashes,
  EscrowState,
  Hex,
  OperatorMessage,
  PaymentInfo,
} from './model.ts'
import { ESCROW, type Network } from './networks.ts'
import type { Rpc } from './rpc.ts'
import { addressWord, bytesTail, numberWord, Words } from './words.ts'

/** The hashes by which the escrow, its collector and its operators name a payment and sign for it. */
export function createEscrowHashes(keccak: Keccak): EscrowHashes {
  const textHash = (text: string): string => keccak.hex(Buffer.from(text))
  const wordsHash = (words: string): Hex => `0x${keccak.hex(Buffer.from(words, 'hex'))}`
  const infoType = textHash(INFO_TYPE)
  const saltType = textHash(SALT_TYPE)
  const messageTypes = { capture: textHash(CAPTURE_TYPE), void: textHash(VOID_TYPE) }
  const domainStart = textHash(DOMAIN_TYPE) + textHash('x402 Auth Capture Operator') + textHash('1')

  function infoHash({ chainId }: Network, info: PaymentInfo): Hex {
    const contents = wordsHash(infoType + infoWords(info)).slice(2)
    return wordsHash(numberWord(chainId) + addressWord(ESCROW.address) + contents)
  }

  return {
    paymentHash: infoHash,
    nonce: (network, info) => infoHash(network, { ...info, payer: ZERO_ADDRESS }),
    boundSalt: (authorizer, saltNonce) =>
      wordsHash(saltType + addressWord(authorizer) + addressWord(ZERO_ADDRESS) + saltNonce.slice(2)),
    messageDigest({ chainId }, operator, message) {
      const domain = wordsHash(domainStart + numberWord(chainId) + addressWord(operator))
      const contents = wordsHash(messageTypes[message.type] + messageWords(message))
      return wordsHash(`1901${domain.slice(2)}${contents.slice(2)}`)
    },
  }
}

/** The escrow on one network. Amounts and hashes are read at the newest block. */
export function createEscrow(rpc: Rpc, usdc: Address, head: Chain['head']): EscrowChain {
  return {
    encode: encodeEscrow,

    async findCapture(paymentHash, from) {
      const newest = (await head()).number
      return (await findCapture(rpc, usdc, { paymentHash, from, newest }))?.hash ?? null
    },

    async payment(paymentHash) {
      const [block, state] = (await rpc.together(
        [
          // The block is read first, so the state is at least as new as it.
          { method: 'eth_blockNumber', params: [] },
          { method: 'eth_call', params: [stateCall(paymentHash), 'latest'] },
        ],
        () => null,
      )) as [Hex, Hex]
      return { block: BigInt(block), state: stateOf(state) }
    },

    async view({ payer, nonce, paymentHash }) {
      // One node answers, so that the answers fit together.
      const [code, balance, used, state] = (await rpc.together(
        [
          { method: 'eth_getCode', params: [payer, 'latest'] },
          { method: 'eth_call', params: [callOf(usdc, encodeBalanceOf(payer)), 'latest'] },
          { method: 'eth_call', params: [callOf(usdc, encodeAuthorizationState(payer, nonce)), 'latest'] },
          { method: 'eth_call', params: [stateCall(paymentHash), 'latest'] },
        ],
        ([, ...words]) => (words.slice(0, 2).includes('0x') ? `there is no USDC at ${usdc}` : null),
      )) as [Hex, Hex, Hex, Hex]
      return {
        hasCode: code !== '0x',
        balance: BigInt(balance),
        used: BigInt(used) !== 0n,
        state: stateOf(state),
      }
    },
  }
}

function callOf(to: Address, data: string): Call {
  return { to, data: data as Hex }
}

function encodeEscrow(call: EscrowCall): Call {
  const info = infoWords(call.info)
  if (call.type === 'void') return callOf(ESCROW.address, VOID + info)
  const amount = numberWord(call.amount)
  if (call.type === 'capture') {
    return callOf(ESCROW.address, CAPTURE + info + amount + numberWord(0) + addressWord(call.feeReceiver))
  }
  // The bytes begin behind the twelve words of the payment and the three that follow.
  const collector = addressWord(ESCROW.collector) + numberWord(15 * 32)
  return callOf(ESCROW.address, AUTHORIZE + info + amount + collector + bytesTail(call.signature))
}

function infoWords(info: PaymentInfo): string {
  return (
    [info.operator, info.payer, info.receiver, info.token].map(addressWord).join('') +
    [info.maxAmount, info.preApprovalExpiry, info.authorizationExpiry, info.refundExpiry].map(numberWord).join('') +
    numberWord(info.minFeeBps) +
    numberWord(info.maxFeeBps) +
    addressWord(info.feeReceiver) +
    info.salt.slice(2)
  )
}

function messageWords(message: OperatorMessage): string {
  const payment = message.paymentHash.slice(2)
  if (message.type === 'void') return payment
  const { amount, feeReceiver, expected } = message
  return (
    payment +
    numberWord(amount) +
    numberWord(0) +
    addressWord(feeReceiver) +
    numberWord(expected.capturable) +
    numberWord(expected.refundable)
  )
}

function stateCall(paymentHash: Hex): Call {
  return callOf(ESCROW.address, STATE + paymentHash.slice(2))
}

/** Null for the answer of an address without code. */
function stateOf(answer: Hex): EscrowState | null {
  if (answer === '0x') return null
  const words = new Words(answer)
  return { collected: words.flag(0), capturable: words.number(32), refundable: words.number(2 * 32) }
}

const INFO_TYPE =
  'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)'
const SALT_TYPE = 'x402AuthCaptureSaltBinding(address receiverAuthorizer,address policy,uint256 saltNonce)'
const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const CAPTURE_TYPE =
  'Capture(bytes32 paymentInfoHash,uint256 amount,uint256 feeAmount,address feeReceiver,uint256 expectedCapturableAmount,uint256 expectedRefundableAmount)'
const VOID_TYPE = 'Void(bytes32 paymentInfoHash)'

const AUTHORIZE = '0x41d66202' // authorize(PaymentInfo,uint256,address,bytes)
const CAPTURE = '0x3efa46e1' // capture(PaymentInfo,uint256,uint256,address)
const VOID = '0xfa1cad17' // void(PaymentInfo)
const STATE = '0x34b778ed' // paymentState(bytes32)
