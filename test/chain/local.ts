import { keccak256, toHex } from 'viem'
import { accountOf, startChain, type TestChain } from '../harness/chain.ts'

/** `npm run chain -- [port]`: base-sepolia on the port (8545), base on the next one, with a block every two seconds. */
const port = Number(process.argv[2] ?? 8545)
const sepolia = await startChain({ chainId: 84532, mining: 2, port })
const base = await startChain({ chainId: 8453, mining: 2, port: port + 1 })

const payers = [1, 2, 3, 4].map((place) => accountOf(keccak256(toHex(`coinslot payer ${String(place)}`))))
const funds = payers.map(({ address }) => ({ address, usdc: 1_000_000_000n }))
await Promise.all([sepolia.fundMany(funds), base.fundMany(funds)])

const row = ({ address, privateKey }: { address: string; privateKey: string }): string => `  ${address}  ${privateKey}`
const network = ({ network: { name, caip2, usdc }, url }: TestChain): string =>
  `  ${name.padEnd(14)}${caip2.padEnd(15)}${url}   USDC ${usdc.checksummed}`

process.stdout.write(`Two networks on this machine, a block every 2 seconds, nothing kept after Ctrl-C.

${network(sepolia)}
${network(base)}

Payers, with 1,000 USDC on each (address, private key):
${payers.map(row).join('\n')}

Sponsors, with 10,000 ETH on each:
${sepolia.accounts.map(row).join('\n')}

Everybody knows these keys: never send anything of value to them.

Start the service beside it:
  BASE_SEPOLIA_RPC_URLS=${sepolia.url} \\
  BASE_RPC_URLS=${base.url} \\
  SPONSOR_PRIVATE_KEYS=${sepolia.accounts[0]?.privateKey ?? ''} npm start
`)

// Anvil ends with this process; a signal alone would not let it hear of it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    void Promise.all([sepolia.stop(), base.stop()]).then(() => process.exit(0))
  })
}
