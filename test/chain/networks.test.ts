import { getAddress } from 'viem'
import { NETWORKS, networkOf } from '../../service/chain/networks.ts'
import { openWorld } from './world.ts'

it.each([
  ['base', 8453],
  ['eip155:8453', 8453],
  ['base-sepolia', 84532],
  ['eip155:84532', 84532],
])('finds %s', (name, chainId) => {
  expect(networkOf(name)?.chainId).toBe(chainId)
})

it.each(['', 'Base', 'eip155:1', 'toString', '__proto__'])('has no network "%s"', (name) => {
  expect(networkOf(name)).toBeNull()
})

it.each(Object.values(NETWORKS))('has the address of USDC on $name in both spellings', ({ usdc }) => {
  expect(usdc.checksummed).toBe(getAddress(usdc.address))
  expect(usdc.address).toBe(usdc.address.toLowerCase())
})

// The separators of the real contracts.
it.each([
  [8453, '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f'],
  [84532, '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818'],
] as const)('has on %d the EIP-712 domain of the real contract', async (chainId, separator) => {
  const world = await openWorld({ chainId })
  const call = { to: world.local.network.usdc.address, data: '0x3644e515' }
  expect(await world.local.call('eth_call', call, 'latest')).toBe(separator)
  const payer = await world.local.payer(1n)
  const item = await payer.authorize(world.local.network, world.sponsor.address, { value: 1n })
  expect(world.signatures.recover(world.signatures.digest(world.local.network, item), item.signature)).toBe(item.from)
  expect((await world.chain.simulate([item]))[0]!.outcome.succeeds).toBe(true)
  await world.stop()
})
