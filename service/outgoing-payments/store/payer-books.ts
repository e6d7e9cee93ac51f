import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { PayerBooks } from '../ports.ts'
import { fundingNonce } from '../rules.ts'

/** What the rows of payments say of the treasury's money and of the payer wallets. The wallet reads it too. */
export function createPayerBooks(statements: Statements) {
  return {
    /** What may still leave this treasury for payers on this network. */
    async promised(treasury: Address, network: NetworkName): Promise<bigint> {
      const [row] = await statements.run<{ sum: bigint }>(
        `SELECT coalesce(sum(funding), 0)::bigint AS sum FROM spending_payment
         WHERE state NOT IN ('settled', 'returned') AND state = 'funding' AND funding_payer = $1 AND network = $2`,
        [treasury, network],
      )
      return row?.sum ?? 0n
    },

    /** The nonces of transfers from the treasury to payers: of these transactions, and of those that may be under way. */
    async fundings(network: NetworkName, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>> {
      const rows = await statements.run<{ id: string }>(
        `SELECT id FROM spending_payment WHERE network = $1 AND (funding_hash = ANY ($2::text[]) OR state = 'funding')`,
        [network, hashes],
      )
      return new Set(rows.map(({ id }) => fundingNonce(id)))
    },

    /** Whether sellers are paid from it. Nobody looks there for what else arrives. */
    async has(address: Address): Promise<boolean> {
      const found = await statements.run('SELECT address FROM spending_payer WHERE address = $1', [address])
      return found.length > 0
    },

    /** For the comparison of the books with the chain: as of this block, in the transaction of the comparison. */
    async books(network: NetworkName, block: bigint, inside: Statements): Promise<PayerBooks> {
      const addresses = await inside.run<{ address: Hex }>(
        'SELECT address FROM spending_payer WHERE environment = $1::environment',
        [network === 'base' ? 'production' : 'sandbox'],
      )
      const open = await inside.run<{ payer: Hex; nonce: Hex; amount: bigint }>(
        `SELECT payer, nonce, amount FROM spending_payment
         WHERE state NOT IN ('settled', 'returned') AND state IN ('signed', 'sent') AND network = $1`,
        [network],
      )
      const [sums] = await inside.run<{ later: bigint; lost: bigint }>(
        `SELECT
           coalesce((SELECT sum(amount) FROM spending_payment WHERE network = $1 AND block_number > $2), 0)::bigint AS later,
           coalesce((SELECT sum(amount) FROM spending_payment WHERE network = $1 AND lost_block <= $2), 0)::bigint AS lost`,
        [network, block],
      )
      const { later = 0n, lost = 0n } = sums ?? {}
      return { addresses: addresses.map(({ address }) => address), open, later, lost }
    },
  }
}
