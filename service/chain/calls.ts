import type { Address, Call, CallOutcome, Chain, Hex } from './model.ts'
import { isRefusal, reasonOf } from './refusal.ts'
import type { Rpc } from './rpc.ts'
import { bytesTail, hex, numberWord } from './words.ts'

/** Calls of contracts that a sponsor makes, or that a contract wallet answers. */
export function createCalls(rpc: Rpc, gasPrice: () => Promise<bigint>): Pick<Chain, 'tryCall' | 'isSignedByCode'> {
  return {
    async tryCall(call: Call & { from: Address }, gasMax: bigint): Promise<CallOutcome> {
      try {
        // At the gas price of the real transaction: some wallets behave differently when gas is free.
        const priced = { ...call, gas: hex(gasMax), gasPrice: hex(await gasPrice()) }
        return { succeeds: true, gas: BigInt(await rpc.call<Hex>('eth_estimateGas', priced)) }
      } catch (error) {
        if (!isRefusal(error)) throw error
        return { succeeds: false, reason: namedReason(error.data ?? '0x') }
      }
    },

    async isSignedByCode(signer, digest, signature) {
      const data: Hex = `${IS_VALID_SIGNATURE}${digest.slice(2)}${numberWord(2 * 32)}${bytesTail(signature)}`
      try {
        const answer = await rpc.call<Hex>('eth_call', { to: signer, data, gas: hex(SIGNATURE_GAS) }, 'latest')
        return answer.length === 2 + 64 && answer.startsWith(IS_VALID_SIGNATURE)
      } catch (error) {
        if (!isRefusal(error)) throw error
        return false
      }
    },
  }
}

/** A contract's own errors by name, others by their text. */
function namedReason(data: string): string | null {
  return ERRORS[data.slice(0, 10)] ?? reasonOf(Buffer.from(data.slice(2), 'hex'))
}

const IS_VALID_SIGNATURE = '0x1626ba7e' // isValidSignature(bytes32,bytes), and what it answers
/** As much as the largest wallets need for their signature check. */
const SIGNATURE_GAS = 300_000

/** The custom errors that a call of a known payment can meet: of the escrow, of Permit2, and of the proxy of `upto`. */
const ERRORS: Readonly<Record<string, string>> = {
  '0xc46cf60f': 'AfterPreApprovalExpiry',
  '0x88ef0760': 'InvalidExpiries',
  '0x3c73c4a0': 'TokenCollectionFailed',
  '0xad7c145a': 'PaymentAlreadyCollected',
  '0x36f2d211': 'AfterAuthorizationExpiry',
  '0x604b0947': 'InsufficientAuthorization',
  '0x93bb7a12': 'ZeroAuthorization',
  '0xe1130dba': 'InvalidSender',
  '0xcd21db4f': 'SignatureExpired',
  '0x756688fe': 'InvalidNonce',
  '0x8baa579f': 'InvalidSignature',
  '0x4be6321b': 'InvalidSignatureLength',
  '0x815e1d64': 'InvalidSigner',
  '0xb0669cbc': 'InvalidContractSignature',
  '0xfe64b4c7': 'AmountExceedsPermitted',
  '0xa65539fa': 'PaymentTooEarly',
  '0x0f6fae87': 'UnauthorizedFacilitator',
}
