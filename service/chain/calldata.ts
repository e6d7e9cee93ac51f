import type { Address, Authorization, Call, Hex, SignedAuthorization } from './model.ts'
import { addressWord, bytesTail, numberWord, tailsWithOffsets } from './words.ts'

/** See `Chain.encodeTransfer`. */
export function encodeTransfer(usdc: Address, item: SignedAuthorization, payerHasCode: boolean): Call {
  return {
    to: usdc,
    data: !payerHasCode && item.signature.length === PLAIN_SIGNATURE ? byKey(item) : byWallet(item),
  }
}

/** See `Chain.encodeBatch`. */
export function encodeBatch(usdc: Address, items: readonly SignedAuthorization[]): Call {
  const calls = items.map(
    (item) =>
      // Target, "may fail", and where the bytes begin: behind these three words.
      addressWord(usdc) + numberWord(1) + numberWord(3 * 32) + bytesTail(encodeTransfer(usdc, item, false).data),
  )
  return {
    to: MULTICALL,
    data: `${AGGREGATE}${numberWord(32)}${numberWord(items.length)}${tailsWithOffsets(calls)}`,
  }
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

/** Multicall3 is at the same address on every network. */
const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'

const TRANSFER_BY_KEY = '0xe3ee160e' // transferWithAuthorization(…, uint8 v, bytes32 r, bytes32 s)
const TRANSFER_BY_WALLET = '0xcf092995' // transferWithAuthorization(…, bytes signature)
const AGGREGATE = '0x82ad56cb' // aggregate3((address,bool,bytes)[])
const BALANCE_OF = '0x70a08231' // balanceOf(address)
const AUTHORIZATION_STATE = '0xe94a0102' // authorizationState(address,bytes32)
/** 65 bytes as text. */
const PLAIN_SIGNATURE = 2 + 65 * 2
