import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import { openWorld, request, type Terms, type World } from './world.ts'

/** What is wrong, how it is made, and the reason that both verify and settle must give for it. */
interface Case {
  wrong: string
  make(world: World): Promise<{ signed: SignedAuthorization; required?: Terms; offered?: Terms }>
  reason: string
  /** Where version 1 says it differently. */
  reasonV1?: string
}

const signedBy = (world: World, terms: Partial<SignedAuthorization> = {}) =>
  world.payer.authorize(world.chain.network, world.seller, terms)

const now = (): bigint => BigInt(Math.floor(Date.now() / 1000))
const VALUE = {
  reason: 'invalid_exact_evm_payload_authorization_value_mismatch',
  reasonV1: 'invalid_exact_evm_authorization_value',
}

const CASES: Case[] = [
  {
    wrong: 'another scheme',
    make: async (world) => ({ signed: await signedBy(world), required: { scheme: 'batch-settlement' } }),
    reason: 'invalid_exact_evm_scheme',
  },
  {
    wrong: 'more authorized than required',
    make: async (world) => ({ signed: await signedBy(world), required: { amount: '999999' } }),
    ...VALUE,
  },
  {
    wrong: 'less authorized than required',
    make: async (world) => ({ signed: await signedBy(world), required: { amount: '1000001' } }),
    ...VALUE,
  },
  {
    wrong: 'another recipient',
    make: async (world) => ({ signed: await signedBy(world), required: { payTo: world.chain.accounts[2]!.address } }),
    reason: 'invalid_exact_evm_recipient_mismatch',
  },
  {
    wrong: 'expired',
    make: async (world) => ({ signed: await signedBy(world, { validBefore: now() - 1n }) }),
    reason: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  {
    wrong: 'about to expire',
    make: async (world) => ({ signed: await signedBy(world, { validBefore: now() + 3n }) }),
    reason: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  {
    wrong: 'not valid yet',
    make: async (world) => ({ signed: await signedBy(world, { validAfter: now() + 600n }) }),
    reason: 'invalid_exact_evm_payload_authorization_valid_after',
  },
  {
    wrong: 'a used nonce',
    async make(world) {
      const signed = await signedBy(world)
      const { body } = await world.service.post('/settle', request(world.chain, 2, signed))
      expect(body.success).toBe(true)
      // Another authorization with the same nonce: a repetition of the same one is not refused like this.
      return { signed: await signedBy(world, { nonce: signed.nonce, value: 2_000_000n }) }
    },
    reason: 'invalid_exact_evm_nonce_already_used',
  },
  {
    wrong: 'too little balance',
    async make(world) {
      const poor = await world.chain.payer(999_999n)
      return { signed: await poor.authorize(world.chain.network, world.seller) }
    },
    reason: 'invalid_exact_evm_insufficient_balance',
  },
  {
    wrong: 'a blacklisted payer',
    async make(world) {
      const banned = await world.chain.payer(5_000_000n)
      await world.chain.setBlacklisted(banned.address, true)
      return { signed: await banned.authorize(world.chain.network, world.seller) }
    },
    reason: 'invalid_exact_evm_transaction_simulation_failed',
  },
  {
    wrong: "another signer's signature",
    async make(world) {
      const other = await world.chain.payer(1n)
      const { signature } = await other.authorize(world.chain.network, world.seller)
      return { signed: { ...(await signedBy(world)), signature } }
    },
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a signature over another amount',
    make: async (world) => ({ signed: { ...(await signedBy(world)), value: 2_000_000n } }),
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a malleable signature',
    async make(world) {
      const signed = await signedBy(world)
      return { signed: { ...signed, signature: flipped(signed.signature) } }
    },
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a signature of 64 bytes',
    async make(world) {
      const signed = await signedBy(world)
      return { signed: { ...signed, signature: signed.signature.slice(0, -2) as Hex } }
    },
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'another token name',
    make: async (world) => ({ signed: await signedBy(world), required: { extra: { name: 'Coin', version: '2' } } }),
    reason: 'invalid_exact_evm_token_name_mismatch',
  },
  {
    wrong: 'another token version',
    make: async (world) => ({ signed: await signedBy(world), required: { extra: { name: 'USDC', version: '1' } } }),
    reason: 'invalid_exact_evm_token_version_mismatch',
  },
  {
    wrong: 'no token name',
    make: async (world) => ({ signed: await signedBy(world), required: { extra: { version: '2' } } }),
    reason: 'invalid_exact_evm_missing_eip712_domain',
  },
  {
    wrong: 'no extra',
    make: async (world) => ({ signed: await signedBy(world), required: { extra: null } }),
    reason: 'invalid_exact_evm_missing_eip712_domain',
  },
  {
    wrong: 'an ordinary account as the asset',
    make: async (world) => ({ signed: await signedBy(world), required: { asset: world.chain.accounts[1]!.address } }),
    reason: 'asset_not_deployed_contract',
  },
  {
    wrong: 'two networks',
    make: async (world) => ({
      signed: await signedBy(world),
      offered: { network: 'eip155:8453' },
    }),
    reason: 'invalid_exact_evm_network_mismatch',
  },
  {
    wrong: 'an unknown network',
    make: async (world) => ({ signed: await signedBy(world), required: { network: 'eip155:1' } }),
    reason: 'invalid_exact_evm_network_mismatch',
  },
  {
    wrong: 'a wallet that refuses',
    async make(world) {
      const from = await world.chain.wallet('refusing', { usdc: 5_000_000n })
      return { signed: { ...(await signedBy(world)), from } }
    },
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a delegation that refuses what its key signed',
    async make(world) {
      const owner = await world.chain.payer(5_000_000n)
      await world.chain.delegate(owner.address, 'refusing')
      return { signed: await owner.authorize(world.chain.network, world.seller) }
    },
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a wallet that is not deployed (ERC-6492)',
    async make(world) {
      const signed = await signedBy(world)
      return { signed: { ...signed, signature: `${signed.signature}${'6492'.repeat(16)}` } }
    },
    reason: 'eip6492_factory_not_allowed',
  },
]

describe('refusals', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  for (const version of [1, 2] as const) {
    it.each(CASES)(`version ${String(version)}: $wrong`, async ({ make, reason, reasonV1 }) => {
      const { signed, required, offered } = await make(world)
      const body = request(world.chain, version, signed, required, offered)
      const expected = version === 1 ? (reasonV1 ?? reason) : reason
      const verified = await world.service.post('/verify', body)
      expect(verified.status).toBe(200)
      expect(verified.body).toEqual({
        isValid: false,
        invalidReason: expected,
        payer: signed.from,
        valid: false,
        reason: expect.stringMatching(/\.$/),
      })
      const settled = await world.service.post('/settle', body)
      expect(settled.status).toBe(200)
      expect(settled.body).toEqual({
        success: false,
        transaction: '',
        txHash: null,
        network: body.paymentRequirements.network,
        payer: signed.from,
        errorReason: expected,
        error_reason: expected,
        errorMessage: expect.stringMatching(/\.$/),
        settled: false,
        status: 'failed',
      })
    })
  }

  it('remembers none of them', async () => {
    const rows = await world.database.statements.run<{ state: string }>('SELECT state FROM facilitator_settlement', [])
    // The two that the used nonces needed.
    expect(rows).toEqual([{ state: 'settled' }, { state: 'settled' }])
  })

  it('do not hit a deployed wallet, or a delegated account', async () => {
    const { chain, payer, seller, service } = world
    const from = await chain.wallet('owned', { owner: payer.address, usdc: 5_000_000n })
    const byWallet = await payer.authorize(chain.network, seller, { from })
    const delegated = await chain.payer(5_000_000n)
    await chain.delegate(delegated.address)
    for (const signed of [byWallet, await delegated.authorize(chain.network, seller)]) {
      expect((await service.post('/verify', request(chain, 2, signed))).body.invalidReason).toBeNull()
      expect((await service.post('/settle', request(chain, 2, signed))).body.success).toBe(true)
    }
  })

  it('refuses an authorization of another kind by its reason', async () => {
    const { chain, payer, seller, service } = world
    const body = request(chain, 2, await payer.authorize(chain.network, seller))
    const other = { ...body, paymentPayload: { ...body.paymentPayload, payload: { permit2Authorization: {} } } }
    expect((await service.post('/verify', other)).body).toMatchObject({
      isValid: false,
      invalidReason: 'unsupported_payload_type',
      payer: null,
    })
  })
})

/** The other signature that the curve allows: s mirrored at the group's order, and the other parity. */
function flipped(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = order - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}` as Hex
}
