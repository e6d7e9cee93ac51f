import type { Chain, Hex } from '../../chain/model.ts'
import { newestConfirmed } from '../../chain/networks.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { LARGEST, largest, type Usdc } from '../../kit/money.ts'
import { walletMissing } from '../../ledger/errors.ts'
import type { Owner } from '../../kit/owner.ts'
import { alreadyRecorded, notProvable, notProven } from '../errors.ts'
import { NETWORK_OF, type Deposit, type Deposited } from '../model.ts'
import type { Recorded } from '../ports.ts'
import { canonicalHash, provenTransfers, transfersOf } from '../rules.ts'
import type { DepositAddress } from './addresses.ts'
import type { Crediting } from './credit.ts'
import { PACE, type WalletDeps } from './deps.ts'

/**
 * A deposit that its owner reports. In production the chain decides, and the report only makes the credit faster. In
 * the sandbox it is play money and needs no chain. The operation's id distinguishes a repeated request from a second
 * report.
 */
export function createDeposit(deps: WalletDeps, crediting: Crediting, depositAddress: DepositAddress) {
  const { ledger, store, book, chains, settings } = deps

  /** Credits the deposit without proof. A hash is recorded once, for any owner and in any letter case. */
  async function pretend(owner: Owner, { amount, transactionHash }: Deposit, operation: Id<'op'>): Promise<Usdc> {
    const kind = 'deposit' as const
    const command = { kind, owner, amount, act: operation, ceiling: LARGEST }
    if (transactionHash === null) {
      const id = deriveId('dep', operation)
      return (await ledger.credit({ ...command, id, reference: null })).balanceAfter
    }
    const hash = canonicalHash(transactionHash)
    try {
      return await store.together(async (inside) => {
        await store.deposits.lockHash(hash, inside)
        const id = `deposit.${owner.environment}.${hash}`
        const { balanceAfter, replayed } = await ledger.credit({ ...command, id, reference: hash }, inside)
        const seen =
          replayed || !isWhole(hash) ? [] : await store.deposits.ofTransaction(NETWORK_OF.sandbox, hash, inside)
        if (seen.length > 0) throw alreadyRecorded(transactionHash)
        await store.deposits.addClaim(hash, owner.userId, inside)
        return balanceAfter
      })
    } catch (error) {
      if (error instanceof DomainError && error.code === 'movement_conflict') throw alreadyRecorded(transactionHash)
      throw error
    }
  }

  async function prove(owner: Owner, deposit: Deposit, operation: Id<'op'>): Promise<Usdc> {
    const network = NETWORK_OF[owner.environment]
    const chain = chains.get(network)
    const to = await depositAddress(owner)
    if (chain === undefined || to === null || book === null) throw notProvable()
    const before = await store.deposits.ofAct(network, to, operation)
    if (before.length > 0) return await answeredBefore(before, owner, operation)
    const { amount, transactionHash } = deposit
    if (transactionHash === null) return await find(chain, owner, amount, operation)
    const hash = canonicalHash(transactionHash)
    if (!isWhole(hash)) throw invalid({ transactionHash: 'must be 0x and 64 hexadecimal digits' })
    const [receipt, { number: head }, recorded] = await Promise.all([
      chain.receipt(hash),
      chain.head(),
      store.deposits.ofTransaction(network, hash),
    ])
    const proven = provenTransfers(
      { transactionHash, amount, to, written: book.written(to), network },
      receipt,
      recorded.map(({ transfer }) => transfer),
      { head, confirmations: settings.confirmations },
    )
    const credited = await crediting.credit(proven, owner, operation)
    // The monitor or another request has already recorded all of them.
    const balance = credited?.balanceAfter ?? null
    if (balance === null) throw alreadyRecorded(transactionHash)
    return balance
  }

  async function answeredBefore(recorded: readonly Recorded[], owner: Owner, act: string): Promise<Usdc> {
    const last = recorded.at(-1)
    if (last === undefined) throw new Error('there is no last one')
    return await crediting.replay(last.transfer, owner, act)
  }

  /** Without a hash: the oldest unrecorded transfer of that amount. */
  async function find(chain: Chain, owner: Owner, amount: Usdc, operation: Id<'op'>): Promise<Usdc> {
    const network = chain.network.name
    const to = await depositAddress(owner)
    if (to === null || book === null) throw notProvable()
    const [cursor, { number: head }] = await Promise.all([store.cursors.read(network), chain.head()])
    const newest = newestConfirmed(head, settings.confirmations)
    const oldest = newest - PACE.lookBack
    // Everything that the monitor has read is already credited.
    const from = largest(0n, oldest, (cursor?.blockNumber ?? 0n) - PACE.overlap)
    for (let start = from; start <= newest; start += PACE.searchMax) {
      const upTo = start + PACE.searchMax - 1n
      const { transactions } = await chain.transfersTo({ to: [to], from: start, upTo: upTo < newest ? upTo : newest })
      for (const { hash } of transactions) {
        const receipt = await chain.receipt(hash)
        if (receipt === null) continue
        const fitting = transfersOf(network, receipt).filter((one) => one.to === to && one.value === amount)
        for (const transfer of fitting) {
          const credited = await crediting.credit([transfer], owner, operation)
          if (typeof credited?.balanceAfter === 'bigint') return credited.balanceAfter
        }
      }
    }
    throw notProven('deposit_not_found', {
      amount: `does not match an unrecorded, confirmed transfer to ${book.written(to)} on ${network}`,
    })
  }

  return async (caller: Caller, deposit: Deposit, operation: Id<'op'>): Promise<Deposited> => {
    const owner = ownerOf(caller)
    if ((await ledger.wallet(owner)) === null) throw walletMissing()
    const newBalance =
      owner.environment === 'production'
        ? await prove(owner, deposit, operation)
        : await pretend(owner, deposit, operation)
    return { amount: deposit.amount, transactionHash: deposit.transactionHash, newBalance }
  }
}

function isWhole(hash: string): hash is Hex {
  return hash.length === 66
}
