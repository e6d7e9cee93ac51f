import { deploymentOf } from './deployment.ts'
import type { Address, Authorization, Call, Deployment, Hex, SignedAuthorization } from './model.ts'
import { MULTICALL } from './networks.ts'
import { addressWord, bytesTail, numberWord, tailsWithOffsets } from './words.ts'

/** See `Chain.encodeTransfer`. */
export function encodeTransfer(usdc: Address, item: SignedAuthorization, payerHasCode: boolean): Call {
  const deployment = deploymentOf(item.signature)
  if (deployment !== null) {
    return payerHasCode
      ? { to: usdc, data: byWallet({ ...item, signature: deployment.signature }) }
      : encodeFirstTransfer(usdc, item, deployment)
  }
  return {
    to: usdc,
    data: !payerHasCode && item.signature.length === PLAIN_SIGNATURE ? byKey(item) : byWallet(item),
  }
}

/** See `Chain.encodeBatch`. */
export function encodeBatch(usdc: Address, items: readonly SignedAuthorization[]): Call {
  return aggregate(items.map((item) => ({ ...encodeTransfer(usdc, item, false), mayFail: true })))
}

/** The factory's call may fail: another transaction may have deployed the wallet since. */
function encodeFirstTransfer(usdc: Address, item: SignedAuthorization, { factory, data, signature }: Deployment): Call {
  return aggregate([
    { to: factory, data, mayFail: true },
    { to: usdc, data: byWallet({ ...item, signature }), mayFail: false },
  ])
}

function aggregate(calls: readonly (Call & { mayFail: boolean })[]): Call {
  const tuples = calls.map(
    ({ to, data, mayFail }) =>
      // Target, "may fail", and where the bytes begin: behind these three words.
      addressWord(to) + numberWord(mayFail ? 1 : 0) + numberWord(3 * 32) + bytesTail(data),
  )
  return { to: MULTICALL, data: `${AGGREGATE}${numberWord(32)}${numberWord(calls.length)}${tailsWithOffsets(tuples)}` }
}

/** The six words that every authorization begins with. */
export function authorizationWords(item: Authorization): string {
  return (
    addressWord(item.from) +
    addressWord(item.to) +
    numberWord(item.value) +
    numberWord(item.validAfter) +
    numberWord(item.validBefore) +
    item.nonce.slice(2)
  )
}

export function encodeBalanceOf(account: Address): Hex {
  return `${BALANCE_OF}${addressWord(account)}`
}

export function encodeAuthorizationState(payer: Address, nonce: Hex): Hex {
  return `${AUTHORIZATION_STATE}${addressWord(payer)}${nonce.slice(2)}`
}

function byKey(item: SignedAuthorization): Hex {
  const digits = item.signature.slice(2)
  const v = Number.parseInt(digits.slice(128), 16)
  // Some signers count from 0, the contract from 27.
  return `${TRANSFER_BY_KEY}${authorizationWords(item)}${numberWord(v < 2 ? v + 27 : v)}${digits.slice(0, 128)}`
}

function byWallet(item: SignedAuthorization): Hex {
  return `${TRANSFER_BY_WALLET}${authorizationWords(item)}${numberWord(7 * 32)}${bytesTail(item.signature)}`
}

const TRANSFER_BY_KEY = '0xe3ee160e' // transferWithAuthorization(…, uint8 v, bytes32 r, bytes32 s)
const TRANSFER_BY_WALLET = '0xcf092995' // transferWithAuthorization(…, bytes signature)
const AGGREGATE = '0x82ad56cb' // aggregate3((address,bool,bytes)[])
const BALANCE_OF = '0x70a08231' // balanceOf(address)
const AUTHORIZATION_STATE = '0xe94a0102' // authorizationState(address,bytes32)
/** 65 bytes as text. */
const PLAIN_SIGNATURE = 2 + 65 * 2
