import { randomBytes } from 'node:crypto'
import { hashTypedData } from 'viem'
import type { Hex } from '../../service/chain/model.ts'
import { SAFE, wrapSignature } from '../../service/kit/passkey-wallet.ts'
import { openWorld, type World } from '../facilitator/world.ts'
import { TYPES } from '../harness/chain.ts'
import { newPasskey } from '../passkeys/passkey.ts'
import { placeSafe } from '../passkeys/safe.ts'
import { startBuyer, type Buyer, type Requirements, type StockPayload, type Version, type SignInput } from './stock.ts'

/** The terms that the client signs, the terms that the seller then asks for, and how the payload is changed between. */
interface Attempt {
  privateKey?: Hex
  terms?: SignInput['terms']
  factory?: Hex
  factoryData?: Hex
  offered?: Partial<Requirements>
  required?: Partial<Requirements>
  change?(payload: StockPayload): void
}

interface Case {
  wrong: string
  make(world: World, sign: (attempt: Attempt) => Promise<Request>): Promise<Attempt> | Attempt
  reason: string
  /** Where version 1 has another reason. */
  reasonV1?: string
  /** The reference's reason where it differs; null where it finds nothing wrong. */
  reference?: (version: Version) => string | null
}

interface Request {
  x402Version: Version
  paymentPayload: StockPayload
  paymentRequirements: Requirements
}

const VALUE = {
  reason: 'invalid_exact_evm_payload_authorization_value_mismatch',
  reasonV1: 'invalid_exact_evm_authorization_value',
}
const seconds = (fromNow: number): string => String(Math.floor(Date.now() / 1000) + fromNow)
const someAddress = (): Hex => `0x${randomBytes(20).toString('hex')}`

const CASES: Case[] = [
  { wrong: 'more than required', make: () => ({ required: { amount: '9999' } }), ...VALUE },
  { wrong: 'less than required', make: () => ({ required: { amount: '10001' } }), ...VALUE },
  {
    wrong: 'another recipient',
    make: () => ({ required: { payTo: someAddress() } }),
    reason: 'invalid_exact_evm_recipient_mismatch',
  },
  {
    wrong: 'expired',
    make: () => ({ terms: { validBefore: seconds(-1) } }),
    reason: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  {
    wrong: 'not valid yet',
    make: () => ({ terms: { validAfter: seconds(300), validBefore: seconds(600) } }),
    reason: 'invalid_exact_evm_payload_authorization_valid_after',
  },
  {
    wrong: 'a used nonce',
    async make(world, sign) {
      const used = await sign({})
      expect((await world.service.post('/settle', used)).body.success).toBe(true)
      return { terms: { nonce: used.paymentPayload.payload.authorization.nonce, validBefore: seconds(1_000) } }
    },
    reason: 'invalid_exact_evm_nonce_already_used',
  },
  {
    wrong: 'no balance',
    make: async (world) => ({ privateKey: (await world.chain.payer(0n)).privateKey }),
    reason: 'invalid_exact_evm_insufficient_balance',
  },
  {
    wrong: 'a blacklisted payer',
    async make(world) {
      const banned = await world.chain.payer(5_000_000n)
      await world.chain.setBlacklisted(banned.address, true)
      return { privateKey: banned.privateKey }
    },
    reason: 'invalid_exact_evm_transaction_simulation_failed',
  },
  {
    wrong: "another signer's signature",
    make: async (world) => ({
      privateKey: (await world.chain.payer(1n)).privateKey,
      terms: { from: world.payer.address },
    }),
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a malleable signature',
    make: () => ({ change: ({ payload }) => (payload.signature = mirrored(payload.signature)) }),
    reason: 'invalid_exact_evm_signature',
    // Its recovery accepts either half of the curve, USDC does not.
    reference: () => 'invalid_exact_evm_transaction_simulation_failed',
  },
  {
    wrong: 'a wrong token name',
    make: () => ({
      offered: { extra: { name: 'Coin', version: '2' } },
      required: { extra: { name: 'Coin', version: '2' } },
    }),
    reason: 'invalid_exact_evm_token_name_mismatch',
  },
  {
    wrong: 'no token name',
    make: () => ({ required: { extra: {} } }),
    reason: 'invalid_exact_evm_missing_eip712_domain',
  },
  {
    wrong: 'an ordinary account as the asset',
    make(world) {
      const asset = world.chain.accounts[1]!.address
      return { offered: { asset }, required: { asset } }
    },
    reason: 'asset_not_deployed_contract',
    // Its version 1 does not check: a call to an account without code succeeds, and the seller gets nothing.
    reference: (version) => (version === 1 ? null : 'asset_not_deployed_contract'),
  },
  {
    wrong: 'another network',
    make: () => ({
      change(payload) {
        if (payload.accepted === undefined) payload.network = 'base'
        else payload.accepted.network = 'eip155:8453'
      },
    }),
    reason: 'invalid_exact_evm_network_mismatch',
  },
  {
    wrong: 'a wallet that refuses (ERC-1271)',
    make: async (world) => ({ terms: { from: await world.chain.wallet('refusing', { usdc: 5_000_000n }) } }),
    reason: 'invalid_exact_evm_signature',
  },
  {
    wrong: 'a wallet that is not deployed (ERC-6492)',
    async make(world) {
      const from = someAddress()
      await world.chain.fund(from, 5_000_000n)
      return { terms: { from }, factory: someAddress() }
    },
    reason: 'eip6492_factory_not_allowed',
  },
]

describe.each([1, 2] as const)('payments that a stock client of version %i signed', (version) => {
  let world: World
  let buyer: Buyer
  let reference: Buyer
  beforeAll(async () => {
    world = await openWorld()
    buyer = startBuyer(version)
    reference = version === 2 ? buyer : startBuyer(2)
  })
  afterAll(async () => {
    await buyer.stop()
    await reference.stop()
    await world.close()
  })

  it.each(CASES)('$wrong: refused, by the reason that the reference has for it', async (each) => {
    const body = await sign(await each.make(world, sign))
    const reason = version === 1 ? (each.reasonV1 ?? each.reason) : each.reason
    const verified = await world.service.post('/verify', body)
    expect(verified.status).toBe(200)
    expect(verified.body).toMatchObject({ isValid: false, invalidReason: reason })
    const settled = await world.service.post('/settle', body)
    expect(settled.status).toBe(200)
    expect(settled.body).toMatchObject({ success: false, errorReason: reason, transaction: '' })
    expect(await judged(body)).toBe(each.reference === undefined ? reason : each.reference(version))
  })

  it.each(['x402Version', 'paymentPayload', 'paymentRequirements'])('without %s it is malformed', async (field) => {
    const body = Object.fromEntries(Object.entries(await sign({})).filter(([name]) => name !== field))
    const verified = await world.service.post('/verify', body)
    expect(verified.status).toBe(400)
    expect(verified.body).toMatchObject({ isValid: false })
    const settled = await world.service.post('/settle', body)
    expect(settled.status).toBe(400)
    expect(settled.body).toMatchObject({ success: false, transaction: '' })
  })

  it('a payment with nothing wrong, and one of a deployed wallet (ERC-1271), are taken', async () => {
    const from = await world.chain.wallet('owned', { owner: world.payer.address, usdc: 5_000_000n })
    for (const attempt of [{}, { terms: { from } }]) {
      const body = await sign(attempt)
      expect(await judged(body)).toBeNull()
      expect((await world.service.post('/verify', body)).body).toMatchObject({ isValid: true, invalidReason: null })
      expect((await world.service.post('/settle', body)).body).toMatchObject({ success: true, errorReason: null })
    }
  })

  it('one of an undeployed wallet (ERC-6492) is accepted where its factory is listed', async () => {
    const factory = await world.chain.factory('honest')
    const wallet = await world.chain.undeployed(factory, { owner: world.payer.address, usdc: 5_000_000n })
    const { post } = await world.add({ environment: { WALLET_FACTORIES: factory } })
    const body = await sign({ terms: { from: wallet.address }, factory, factoryData: wallet.data })
    expect(await judged(body, [factory])).toBeNull()
    expect((await post('/verify', body)).body).toMatchObject({ isValid: true, invalidReason: null })
    const changed = await sign({ terms: { from: someAddress() }, factory, factoryData: wallet.data })
    expect(await judged(changed, [factory])).not.toBeNull()
    expect((await post('/verify', changed)).body).toMatchObject({ invalidReason: 'smart_wallet_deployment_failed' })
    expect((await post('/settle', body)).body).toMatchObject({ success: true, errorReason: null })
    // It has code now, and pays again without its factory.
    const again = await sign({ terms: { from: wallet.address } })
    expect(await judged(again)).toBeNull()
    expect((await post('/settle', again)).body).toMatchObject({ success: true })
  })

  it('one of a wallet with only a passkey is accepted, before and after its deployment', async () => {
    const { chain } = world
    await placeSafe(chain)
    const passkey = newPasskey()
    await chain.fund(passkey.wallet, 5_000_000n)
    const { post } = await world.add({ environment: { PASSKEY_WALLETS: 'true' } })
    for (const wrapped of [true, false]) {
      const body = await sign({ terms: { from: passkey.wallet } })
      const { payload } = body.paymentPayload
      const { chainId, usdc } = chain.network
      const digest = hashTypedData({
        domain: { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address },
        types: TYPES,
        primaryType: 'TransferWithAuthorization',
        message: payload.authorization as never,
      })
      const other = newPasskey().sign(digest, chain.network, { wrapped: false })
      payload.signature = wrapped ? wrapSignature(passkey.key, other) : other
      expect(await judged(body, [SAFE.factory])).not.toBeNull()
      payload.signature = passkey.sign(digest, chain.network, { wrapped })
      expect(await judged(body, [SAFE.factory])).toBeNull()
      expect((await post('/verify', body)).body).toMatchObject({ isValid: true, invalidReason: null })
      expect((await post('/settle', body)).body).toMatchObject({ success: true, payer: passkey.wallet })
    }
  })

  async function sign(attempt: Attempt): Promise<Request> {
    const requirements = { ...requirementsOf(world, version), ...fitting(version, attempt.offered) }
    const paymentPayload = await buyer.sign({
      privateKey: attempt.privateKey ?? world.payer.privateKey,
      requirements,
      terms: attempt.terms ?? {},
      factory: attempt.factory ?? null,
      ...(attempt.factoryData === undefined ? {} : { factoryData: attempt.factoryData }),
    })
    attempt.change?.(paymentPayload)
    const paymentRequirements = { ...requirements, ...fitting(version, attempt.required) }
    return { x402Version: version, paymentPayload, paymentRequirements }
  }

  function judged(body: unknown, factories: readonly Hex[] = []): Promise<string | null> {
    const { url: rpc, network, accounts } = world.chain
    return reference.judge({ rpc, privateKey: accounts[1]!.privateKey, chainId: network.chainId, body, factories })
  }
})

function requirementsOf({ chain, seller }: World, version: Version): Requirements {
  const { name, caip2, usdc } = chain.network
  return {
    scheme: 'exact',
    network: version === 1 ? name : caip2,
    payTo: seller,
    asset: usdc.checksummed,
    maxTimeoutSeconds: 60,
    extra: { name: usdc.name, version: usdc.version },
    ...fitting(version, { amount: '10000' }),
    ...(version === 1 ? { resource: 'https://seller.example/paid', description: 'A page', mimeType: 'text/html' } : {}),
  }
}

/** Version 1 has another name for the amount. */
function fitting(version: Version, { amount, ...terms }: Partial<Requirements> = {}): Partial<Requirements> {
  if (amount === undefined) return terms
  return { ...terms, [version === 1 ? 'maxAmountRequired' : 'amount']: amount }
}

/** The other signature that the curve allows: s mirrored at the group's order, and the other parity. */
function mirrored(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = order - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '1c' : '1b'}` as Hex
}
