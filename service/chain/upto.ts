import { encodeBalanceOf } from './calldata.ts'
import type { Keccak } from './curve.ts'
import { findPermitUse } from './events.ts'
import type {
  Address,
  Call,
  Chain,
  Hex,
  Permit,
  PermitNonce,
  Signatures,
  SignedPermit,
  TokenPermit,
  UptoChain,
} from './model.ts'
import { UPTO } from './networks.ts'
import type { Rpc } from './rpc.ts'
import { readAt } from './scan.ts'
import { agreeOnUse, type NonceReader } from './uses.ts'
import { addressWord, bytesTail, numberWord } from './words.ts'

/** The digest by which Permit2 knows what a payer has signed. */
export function createPermitDigest(keccak: Keccak): Signatures['permitDigest'] {
  const textHash = (text: string): string => keccak.hex(Buffer.from(text))
  const wordsHash = (words: string): string => keccak.hex(Buffer.from(words, 'hex'))
  const permitType = textHash(PERMIT_TYPE + TOKEN_TYPE + WITNESS_TYPE)
  const tokenType = textHash(TOKEN_TYPE)
  const witnessType = textHash(WITNESS_TYPE)
  const domainStart = textHash(DOMAIN_TYPE) + textHash('Permit2')

  return ({ chainId }, permit) => {
    const token = wordsHash(tokenType + addressWord(permit.token) + numberWord(permit.amount))
    const purpose = wordsHash(witnessType + witnessWords(permit))
    const contents = wordsHash(
      permitType +
        token +
        addressWord(permit.spender) +
        numberWord(permit.nonce) +
        numberWord(permit.deadline) +
        purpose,
    )
    const domain = wordsHash(domainStart + numberWord(chainId) + addressWord(UPTO.permit2))
    return `0x${wordsHash(`1901${domain}${contents}`)}`
  }
}

/** The contracts of `upto` on one network, read at the newest block. */
export function createUpto({ rpc, nodes, usdc, head }: UptoDeps): UptoChain {
  return {
    encode: encodeUpto,

    async view({ payer, nonce }) {
      const read = (to: Address, data: string) => ({ method: 'eth_call', params: [{ to, data }, 'latest'] })
      // One node answers, so that the answers fit together.
      const [code, proxy, balance, allowance, bitmap] = (await rpc.together(
        [
          { method: 'eth_getCode', params: [payer, 'latest'] },
          { method: 'eth_getCode', params: [UPTO.proxy, 'latest'] },
          read(usdc, encodeBalanceOf(payer)),
          read(usdc, ALLOWANCE + addressWord(payer) + addressWord(UPTO.permit2)),
          read(UPTO.permit2, bitmapCall(payer, nonce)),
        ],
        ([, , ...words]) => (words.slice(0, 2).includes('0x') ? `there is no USDC at ${usdc}` : null),
      )) as [Hex, Hex, Hex, Hex, Hex]
      return {
        hasCode: code !== '0x',
        balance: BigInt(balance),
        allowance: BigInt(allowance),
        used: isSet(bitmap, nonce),
        deployed: proxy !== '0x' && bitmap !== '0x',
      }
    },

    isUsed: async (permit) => (await permitNonce(usdc, permit).stateAt(rpc, 'latest')).used,
    findUse: async (permit, from) => permitNonce(usdc, permit).findUse(rpc, { from, newest: (await head()).number }),
    agreedUse: (permit, search) => agreeOnUse(nodes, permitNonce(usdc, permit), search),
  }
}

interface UptoDeps {
  rpc: Rpc
  /** Each address as its own client. */
  nodes: readonly Rpc[]
  usdc: Address
  head: Chain['head']
}

function permitNonce(usdc: Address, permit: PermitNonce): NonceReader {
  const { payer, nonce } = permit
  return {
    async stateAt(node, at) {
      const [block, bitmap] = await readAt(node, { to: UPTO.permit2, data: bitmapCall(payer, nonce) }, at)
      return { used: isSet(bitmap, nonce), block }
    },
    findUse: (node, blocks) => findPermitUse(node, usdc, { ...permit, ...blocks }),
  }
}

function bitmapCall(payer: Address, nonce: bigint): Hex {
  return `${NONCE_BITMAP}${addressWord(payer)}${numberWord(nonce >> 8n)}`
}

function isSet(bitmap: Hex, nonce: bigint): boolean {
  return bitmap !== '0x' && ((BigInt(bitmap) >> (nonce & 255n)) & 1n) === 1n
}

function encodeUpto(permit: SignedPermit, amount: bigint, tokenPermit: TokenPermit | null): Call {
  const words =
    addressWord(permit.token) +
    numberWord(permit.amount) +
    numberWord(permit.nonce) +
    numberWord(permit.deadline) +
    numberWord(amount) +
    addressWord(permit.from) +
    witnessWords(permit)
  const before = tokenPermit === null ? '' : tokenPermitWords(tokenPermit)
  // The bytes begin behind all of these words, and the one that says where.
  const at = numberWord((before.length + words.length) / 2 + 32)
  const data = (tokenPermit === null ? SETTLE : SETTLE_WITH_PERMIT) + before + words + at + bytesTail(permit.signature)
  return { to: UPTO.proxy, data: data as Hex }
}

function witnessWords({ to, facilitator, validAfter }: Permit): string {
  return addressWord(to) + addressWord(facilitator) + numberWord(validAfter)
}

function tokenPermitWords({ value, deadline, signature }: TokenPermit): string {
  const digits = signature.slice(2)
  return (
    numberWord(value) + numberWord(deadline) + digits.slice(0, 128) + numberWord(Number.parseInt(digits.slice(128), 16))
  )
}

const DOMAIN_TYPE = 'EIP712Domain(string name,uint256 chainId,address verifyingContract)'
const TOKEN_TYPE = 'TokenPermissions(address token,uint256 amount)'
const WITNESS_TYPE = 'Witness(address to,address facilitator,uint256 validAfter)'
const PERMIT_TYPE =
  'PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)'

const SETTLE = '0xff11e7b4' // settle(PermitTransferFrom,uint256,address,Witness,bytes)
const SETTLE_WITH_PERMIT = '0x016c1748' // settleWithPermit(EIP2612Permit,PermitTransferFrom,uint256,address,Witness,bytes)
const ALLOWANCE = '0xdd62ed3e' // allowance(address,address)
const NONCE_BITMAP = '0x4fe02b44' // nonceBitmap(address,uint256)
