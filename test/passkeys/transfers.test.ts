import { hashTypedData } from 'viem'
import { NETWORKS } from '../../service/chain/networks.ts'
import type { Chain, Hex } from '../../service/chain/model.ts'
import { wrapSignature } from '../../service/kit/passkey-wallet.ts'
import { createPasskeyWallets, type PasskeyWalletDeps } from '../../service/passkey-wallets/service.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startChain, TYPES, type TestChain } from '../harness/chain.ts'
import { testService, type TestService } from '../harness/service.ts'
import { newPasskey, type Passkey } from './passkey.ts'
import { placeSafe } from './safe.ts'

describe('money that leaves a passkey wallet', () => {
  let chain: TestChain
  let service: TestService
  beforeAll(async () => {
    chain = await startChain()
    service = await testService({
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      PASSKEY_WALLETS: 'true',
      SETTLE_WAIT_MS: '10000',
      RATE_PAY_PER_MINUTE: '0',
    })
    await service.start()
    await placeSafe(chain)
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })

  async function funded(units = 3_000_000n): Promise<Passkey> {
    const passkey = newPasskey()
    await chain.fund(passkey.wallet, units)
    return passkey
  }

  /** What the page sends: the terms, and the passkey's signature of them. */
  async function body(passkey: Passkey, to: Hex, { value = 1_000_000n, by = passkey } = {}) {
    const owner = await chain.payer(0n)
    const { from, validAfter, validBefore, nonce } = await owner.authorize(chain.network, to, {
      ...{ from: passkey.wallet, value },
    })
    const terms = { from, to, value, validAfter, validBefore, nonce }
    const { chainId, usdc } = chain.network
    const domain = { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address }
    const digest = hashTypedData({ domain, types: TYPES, primaryType: 'TransferWithAuthorization', message: terms })
    const authorization = Object.fromEntries(Object.entries(terms).map(([name, one]) => [name, String(one)]))
    const signature = wrapSignature(passkey.key, by.sign(digest, chain.network, { wrapped: false }))
    return { chainId, authorization, signature }
  }

  const send = (sent: object) => service.call('POST', '/p/wallet/transfers', { body: sent })
  const newAddress = async () => (await chain.payer(0n)).address

  it('arrives once when the same signature is sent twice', async () => {
    const [passkey, to] = [await funded(), await newAddress()]
    const sent = await body(passkey, to)
    const first = await send(sent)
    expect(first).toMatchObject({ status: 200, body: { status: 'settled', reason: null } })
    expect(first.body.explorerUrl).toMatch(/[/]tx[/]0x[0-9a-f]{64}$/)
    expect((await send(sent)).body).toEqual(first.body)
    expect(await usdcOf(chain, to)).toBe(1_000_000n)
    expect(await usdcOf(chain, passkey.wallet)).toBe(2_000_000n)
    expect((await service.call('GET', `/p/wallet/${passkey.wallet}`)).body.wallet.networks).toMatchObject([
      { network: 'base-sepolia', units: '2000000' },
    ])
  })

  it('goes to no address where nobody could spend it', async () => {
    const passkey = await funded()
    for (const to of [chain.network.usdc.address, service.wallets.treasury()!]) {
      const { status, body: refused } = await send(await body(passkey, to))
      expect([status, refused.details]).toEqual([400, { 'authorization.to': expect.stringMatching(/^is /) }])
    }
    expect(await usdcOf(chain, passkey.wallet)).toBe(3_000_000n)
  })

  it("moves only with the passkey's signature over amount and recipient", async () => {
    const [passkey, to] = [await funded(), await newAddress()]
    const sent = await body(passkey, to)
    for (const change of [{ value: '2000000' }, { to: await newAddress() }]) {
      const changed = await send({ ...sent, authorization: { ...sent.authorization, ...change } })
      expect(changed.body).toMatchObject({ status: 'failed', reason: 'invalid_exact_evm_signature' })
    }
    const stolen = await send(await body(passkey, to, { by: newPasskey() }))
    expect(stolen.body).toMatchObject({ status: 'failed', reason: 'invalid_exact_evm_signature' })
    const tooMuch = await send(await body(passkey, to, { value: 4_000_000n }))
    expect(tooMuch.body).toMatchObject({ status: 'failed', reason: 'invalid_exact_evm_insufficient_balance' })
    expect(await usdcOf(chain, to)).toBe(0n)
    expect(await usdcOf(chain, passkey.wallet)).toBe(3_000_000n)
  })

  it('does not sponsor transfers of other wallets', async () => {
    const to = await newAddress()
    const payer = await chain.payer(5_000_000n)
    const { signature, ...terms } = await payer.authorize(chain.network, to)
    const authorization = Object.fromEntries(Object.entries(terms).map(([name, one]) => [name, String(one)]))
    const { chainId } = chain.network
    expect(await send({ chainId, authorization, signature })).toMatchObject({ status: 400 })
    // In the envelope of a passkey wallet that is another one.
    const wrapped = wrapSignature(newPasskey().key, signature)
    expect(await send({ chainId, authorization, signature: wrapped })).toMatchObject({ status: 400 })
    expect(await send({ ...(await body(await funded(), to)), chainId: 1 })).toMatchObject({ status: 400 })
    expect(await usdcOf(chain, to)).toBe(0n)
  })

  it('costs the sponsors no more in a day than one address may use', async () => {
    const small = await testService({
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[1]!.privateKey,
      PASSKEY_WALLETS: 'true',
      SETTLE_WAIT_MS: '10000',
      GAS_BUDGET_PER_CALLER_DAY: '0.002',
    })
    try {
      await small.start()
      const answers: string[] = []
      // Each one a wallet of its own, which is deployed at the sponsor's cost.
      for (let count = 0; count < 8; count++) {
        const sent = await body(await funded(), await newAddress())
        const answer = await small.call('POST', '/p/wallet/transfers', { body: sent })
        answers.push(String(answer.body.status === 'settled' ? 'settled' : (answer.body.code ?? answer.body.reason)))
      }
      expect(answers[0]).toBe('settled')
      expect(answers.at(-1)).toBe('caller_gas_budget_spent')
    } finally {
      await small.close()
    }
  })

  it('answers 404, also for its page, where the operator has not switched it on', async () => {
    const off = await testService({ BASE_SEPOLIA_RPC_URLS: chain.url })
    try {
      expect(await off.call('POST', '/p/wallet/transfers', { body: {} })).toMatchObject({ status: 404 })
      expect(await off.call('GET', '/p/wallet', { headers: { accept: 'text/html' } })).toMatchObject({ status: 404 })
    } finally {
      await off.close()
    }
  })

  it('has a page that no other page may frame, as little as any that signs', async () => {
    const page = await service.call('GET', '/p/wallet', { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'")
  })
})

describe('what a passkey wallet has', () => {
  const away = () => Promise.reject(new Error('The network does not answer.'))

  async function look(...balances: (() => Promise<bigint>)[]) {
    const networks = [NETWORKS.base, NETWORKS['base-sepolia']]
    const chains = new Map(
      balances.map((balanceOf, at) => [networks[at]!.name, { network: networks[at]!, balanceOf } as unknown as Chain]),
    )
    const wallets = createPasskeyWallets({ chains } as unknown as PasskeyWalletDeps)
    return (await wallets.look(newPasskey().wallet)).networks.map(({ network, units }) => [network, units])
  }

  it('is known on the other networks while one does not answer', async () => {
    const expected = [
      ['base', null],
      ['base-sepolia', '3000000'],
    ]
    expect(await look(away, () => Promise.resolve(3_000_000n))).toEqual(expected)
  })

  it('is unknown where no network answers', async () => {
    await expect(look(away, away)).rejects.toThrow('The network does not answer.')
  })
})
