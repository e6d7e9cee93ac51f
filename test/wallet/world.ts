import { randomBytes } from 'node:crypto'
import { encodeFunctionData, parseAbi, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { accountOfSeed, depositSigner } from '../../service/chain/keys.ts'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import type { Hex } from '../../service/chain/model.ts'
import { usdc } from '../../service/kit/money.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

/** A live service on a chain of its own, where deposits are real. */
export interface World {
  chain: TestChain
  service: TestService
  person(): Promise<Depositor>
  /** Credits everything that the monitor would see by now. */
  watch(): Promise<void>
  /** Mines so many blocks and lets the service look at the newest one. */
  mine(blocks: number): Promise<void>
  /** Mines a block at the service's time, which a test has moved ahead of the chain's. */
  mineNow(): Promise<void>
  close(): Promise<void>
}

export interface Depositor extends TestPerson {
  address: Hex
  balance(): Promise<number>
  deposit(amount: number, transactionHash?: string, headers?: Record<string, string>): ReturnType<TestPerson['call']>
}

export async function openWorld(
  environment: Record<string, string> | ((chain: TestChain) => Promise<Record<string, string>>) = {},
): Promise<World> {
  const chain = await startChain({ chainId: 8453 })
  await chain.mine(10)
  const settings = typeof environment === 'function' ? await environment(chain) : environment
  const service = await testService({ ...(await liveSettings(chain)), ...settings })
  return {
    chain,
    service,
    async person() {
      const person = await service.person({ environment: 'production' })
      const address = await service.wallets.depositAddress({
        userId: person.caller.user.id,
        environment: 'production',
      })
      return {
        ...person,
        address: address!,
        async balance() {
          const { body } = await person.call('GET', '/v1/wallet/balance')
          return body.wallet.balance as number
        },
        deposit: (amount, transactionHash, headers = {}) =>
          person.call('POST', '/v1/wallet/deposit', {
            body: { amount, ...(transactionHash === undefined ? {} : { transactionHash }) },
            headers,
          }),
      }
    },
    async watch() {
      // The newest block is cached for a second.
      service.clock.forward(1_000)
      for (const monitor of service.wallets.monitors) {
        await monitor.turn(service.clock.now(), new AbortController().signal)
      }
    },
    async mine(blocks) {
      await chain.mine(blocks)
      service.clock.forward(1_000)
    },
    async mineNow() {
      await chain.call('evm_setNextBlockTimestamp', Math.floor(service.clock.now().getTime() / 1000))
      await chain.mine(1)
    },
    async close() {
      await service.close()
      await chain.stop()
    },
  }
}

export async function liveSettings(chain: TestChain): Promise<Record<string, string>> {
  return {
    LIVE: 'true',
    AUTH_SECRET: 'a'.repeat(40),
    VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    [chain.network.name === 'base' ? 'BASE_RPC_URLS' : 'BASE_SEPOLIA_RPC_URLS']: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    RATE_API_PER_MINUTE: '0',
    ...(await walletKeys()),
  }
}

/** The same account in every test: its addresses are derived, never guessed. A second service on one chain has another seed. */
export async function walletKeys(seed = '07'): Promise<{ WALLET_XPUB: string; WALLET_XPRV: string }> {
  const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
  const xprv = accountOfSeed(seed.repeat(32))
  const { xpub } = depositSigner(xprv, { curve, signatures: createSignatures(curve, keccak) })
  return { WALLET_XPUB: xpub, WALLET_XPRV: xprv }
}

/** Several transfers in one transaction, minted by the token's owner. Returns the hash. */
export async function send(chain: TestChain, transfers: readonly { to: Hex; value: bigint }[]): Promise<Hex> {
  // Not the first account: it is the sponsor, and the service counts its nonces.
  const keeper = chain.accounts[2]
  const calls = transfers.map(({ to, value }) => ({
    target: chain.network.usdc.address,
    allowFailure: false,
    callData: encodeFunctionData({ abi: ABI, functionName: 'mint', args: [to, value] }),
  }))
  const data = encodeFunctionData({ abi: ABI, functionName: 'aggregate3', args: [calls] })
  return await sendCall(chain, { from: keeper!.address, to: MULTICALL, data })
}

/** One plain transfer from an account's own balance. */
export async function transfer(chain: TestChain, from: Hex, to: Hex, value: bigint): Promise<Hex> {
  await chain.call('anvil_setBalance', from, toHex(10n ** 18n))
  const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [to, value] })
  return await sendCall(chain, { from, to: chain.network.usdc.address, data })
}

/** Sends without a signature: the chain accepts it from every address that a test names. */
export async function sendCall(chain: TestChain, call: { from: Hex; to: Hex; data: Hex }): Promise<Hex> {
  await chain.call('anvil_impersonateAccount', call.from)
  return (await chain.call('eth_sendTransaction', { ...call, gas: toHex(30_000_000) })) as Hex
}

/** A mint whose bytes are always the same, so that it can come back after a reorganisation. */
export async function signedMint(chain: TestChain, to: Hex, value: bigint): Promise<Hex> {
  const account = privateKeyToAccount(chain.accounts[1]!.privateKey)
  return await account.signTransaction({
    type: 'eip1559',
    chainId: chain.network.chainId,
    nonce: 0,
    to: chain.network.usdc.address,
    data: encodeFunctionData({ abi: ABI, functionName: 'mint', args: [to, value] }),
    gas: 200_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  })
}

export const dollars = (amount: number) => usdc(BigInt(Math.round(amount * 1_000_000)))

const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'
const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
])
