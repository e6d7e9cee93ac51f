import { fundingNonce } from '../../service/outgoing-payments/rules.ts'
import { usdc } from '../../service/kit/money.ts'
import { orderNonce } from '../../service/payment-addresses/rules.ts'
import { ownAuthorization, refundNonce } from '../../service/refunds/rules.ts'
import { keyedNonce } from '../../service/transfers/model.ts'
import { payoutNonce, withdrawalNonce } from '../../service/wallet/rules.ts'

const keyHash = Buffer.alloc(32, 1)
const key = keyHash.toString('hex')
const own = { id: 'rfd_1', amount: usdc(5n), validBefore: 9n } as const
const parties = { recipient: '0x01', payer: '0x02' } as const

// Transfers that were signed by an earlier version are looked for, and paid again, under these.
test.each<[string, () => string | null, string]>([
  ['a withdrawal', () => payoutNonce('wdr_1'), '0x450d19e64a91034c742a3a68b5f852cc5fa142d15949e34861d1f43071fe9bf5'],
  [
    'a withdrawal with a key',
    () => withdrawalNonce({ keyHash, to: '0xAB', amount: usdc(5_000_000n) }, 0),
    '0xadd4ed769f15176ba0332987ecc6a16f488167906b4f09df33d2779ed5e6af2c',
  ],
  [
    'a refund with a key, for the second time',
    () => keyedNonce('refund', ['pay_1', key, 'all'], 1),
    '0xf4d338f04b6695532cf9242c12a8d66134f486e3a2aa37c73f261c07efb6b1e9',
  ],
  [
    "a refund from its seller's own wallet",
    () => ownAuthorization(own, parties).nonce,
    '0x709887c8b90795f554fcf23d36b32b6507b109e636b7c195b07edfd691db1c0b',
  ],
  [
    'the funding of a payment',
    () => fundingNonce('pay_1'),
    '0x1b39da7110a8324ff8b33b09d745031c616484b22450c9ceebb792afc07e0024',
  ],
  [
    'an attempt to pay from a payment address',
    () => orderNonce({ id: 'adr_1', attempt: 2 } as never),
    '0x9ad257852e8fcab8a4a304d654ee5c131653f60b3f3d650af2da9ae4c7514655',
  ],
])('the nonce of %s is the same in every version', (_, nonce, expected) => {
  expect(nonce()).toBe(expected)
})

test('a refund with a key has the nonce of its payment, key and amount', () => {
  const { nonce } = refundNonce({ saleId: 'pay_1', amount: null, keyHash }, { made: [], now: new Date(0) })
  expect(nonce).toBe(keyedNonce('refund', ['pay_1', key, 'all'], 0))
})
