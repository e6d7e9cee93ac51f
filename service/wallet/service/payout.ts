import type { Address, Chain } from '../../chain/model.ts'
import { blockBefore, blockBeforeDump } from '../../chain/networks.ts'
import type { FailureReason, PayoutTerms, Withdrawal } from '../model.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { WithdrawalEnd, WithdrawalStore } from '../ports.ts'
import { authorizationOf, PAYOUT } from '../rules.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import { send } from '../../transfers/service/send.ts'
import type { WalletDeps } from './deps.ts'

/**
 * Completes withdrawals, in a worker. Each withdrawal has one authorization, whose terms are stored before it is
 * signed. Signing again gives the same bytes, and the USDC contract accepts them once. So any process may repeat any
 * step at any time. Only the chain decides the result: paid when the authorization was used and has enough
 * confirmations, failed when it can never be used any more.
 */
export function createPayouts(deps: WalletDeps) {
  const { outflow, store, book, chains, clock, log, measures, signer, failpoints } = deps
  const { record, confirm, fail } = createPayoutRecord(deps)

  /** Does the next step of one withdrawal. */
  async function step(id: string): Promise<void> {
    const withdrawal = await store.withdrawals.find(id)
    if (withdrawal === null) return
    // It stays pending, because nothing was signed yet.
    if (withdrawal.state === 'pending' && (await outflow.isPaused())) return
    if (withdrawal.simulated) return await pretend(withdrawal)
    const chain = chains.get(withdrawal.network)
    if (chain === undefined) return
    const { state } = withdrawal
    const submitted = state === 'pending' ? await submit(withdrawal, chain) : withdrawal
    if (submitted?.state === 'submitted') await follow(submitted, chain)
  }

  /** For a sandbox without a chain: the same states, but no transfer. */
  async function pretend(withdrawal: Withdrawal): Promise<void> {
    if (withdrawal.state === 'pending') await record(withdrawal.id, null)
    await confirm(withdrawal, { state: 'confirmed', transactionHash: null, blockNumber: null })
  }

  /**
   * Fixes the terms. Before they are stored nothing was signed, so the withdrawal can still be given up. Afterwards
   * only the chain ends it. In a database that was restored a pending one may have been paid since the dump.
   */
  async function submit(withdrawal: Withdrawal, chain: Chain): Promise<Withdrawal | null> {
    if (book === null || signer?.account !== book.account) return null
    const now = clock.now()
    const payer = book.treasury
    const [balance, outgoing, promised, { used, block }] = await Promise.all([
      chain.balanceOf(payer),
      store.withdrawals.outgoing(payer, chain.network.name),
      deps.payers.promised(payer, chain.network.name),
      chain.authorizationAt(payer, withdrawal.nonce),
    ])
    // Used before anything was signed for this row: by a row that a restored database lost, and so before this one.
    const seenBlock = used ? blockBeforeDump(block) : blockBefore(block, withdrawal.createdAt)
    if (!used && balance - outgoing - promised < withdrawal.amount) {
      const isOver = now.getTime() - withdrawal.createdAt.getTime() >= PAYOUT.pendingMs
      if (isOver && (await isUnpaid(withdrawal, payer, seenBlock, chain))) await fail(withdrawal, 'treasury_short')
      else measures.count('withdrawal_waits_for_treasury')
      return null
    }
    const validBefore = BigInt(Math.floor(now.getTime() / 1000) + PAYOUT.validSeconds)
    const submitted = await record(withdrawal.id, { payer, validBefore, seenBlock })
    await failpoints.reach('withdrawal submitted')
    return submitted
  }

  /** One node that lags must not give back what was paid. */
  async function isUnpaid(
    { nonce, createdAt }: Withdrawal,
    payer: Address,
    from: bigint,
    chain: Chain,
  ): Promise<boolean> {
    const past = BigInt(Math.floor(createdAt.getTime() / 1000))
    const agreed = await chain.agreedUse({ payer, nonce, from, past })
    return agreed.known && !agreed.used
  }

  async function follow(withdrawal: Withdrawal, chain: Chain): Promise<void> {
    const { terms } = withdrawal
    if (terms === null) throw new Error('what is submitted has terms')
    const authorization = authorizationOf(withdrawal, terms)
    const outcome = await outcomeOf(
      chain,
      // The nonce is this payout's alone. A refund that a restored database lost may have paid another amount by it: nothing is paid again.
      { ...authorization, pays: null, seenBlock: terms.seenBlock },
      deps.settings.confirmations,
    )
    switch (outcome.state) {
      case 'open':
        // An authorization that was sent earlier can still be used, so only the chain ends it. It is not sent again.
        if (!(await outflow.isPaused())) await carryOut(withdrawal, terms, chain)
        return
      case 'used': {
        const { hash, blockNumber } = outcome.use
        if (outcome.final) await confirm(withdrawal, { state: 'confirmed', transactionHash: hash, blockNumber })
        else if (withdrawal.transactionHash !== hash) await store.withdrawals.noteHash(withdrawal.id, hash)
        return
      }
      case 'spent':
        return await fail(withdrawal, 'canceled')
      case 'over':
        return await fail(withdrawal, 'expired')
      case 'ending':
      case 'unclear':
        return
    }
  }

  async function carryOut(withdrawal: Withdrawal, terms: PayoutTerms, chain: Chain): Promise<void> {
    // Another treasury's key would sign another authorization, and so pay a second time.
    if (signer === null || book?.treasury !== terms.payer || signer.account !== book.account) return
    const { id: operation } = withdrawal
    const signed = signer.sign('treasury', chain.network, authorizationOf(withdrawal, terms))
    const hash = await send(deps, { kind: 'withdrawal', network: chain.network, signed, operation })
    await failpoints.reach('withdrawal settled')
    if (hash !== null) await store.withdrawals.noteHash(operation, hash)
  }

  return {
    step,
    /** Does the next step of every open withdrawal. */
    async stepAll(signal: AbortSignal): Promise<void> {
      const open = await store.withdrawals.open(OPEN_MAX)
      for (let at = 0; at < open.length && !signal.aborted; at += AT_ONCE) {
        const outcomes = await Promise.allSettled(open.slice(at, at + AT_ONCE).map(({ id }) => step(id)))
        const failed = outcomes.find((outcome) => outcome.status === 'rejected')
        if (failed !== undefined) log.warn({ err: failed.reason as unknown }, 'a withdrawal step failed; retrying')
      }
    },
  }
}

/** Each change of state, with the hold and what subscribers write, in one transaction. */
function createPayoutRecord({ ledger, outflow, store, publish, clock, log, measures, failpoints }: WalletDeps) {
  async function record(id: string, terms: PayoutTerms | null): Promise<Withdrawal | null> {
    return await store.together(async (inside) => {
      const submitted = await store.withdrawals.submit(inside, { id, terms, now: clock.now() })
      if (submitted !== null) await publish(inside, { kind: 'wallet.payout_changed', payout: submitted })
      return submitted
    })
  }

  /** Published before the ledger's accounts are locked: a refund ends then, and a new one locks them in the same order. */
  async function end(inside: Statements, ended: Parameters<WithdrawalStore['end']>[1]): Promise<boolean> {
    const payout = await store.withdrawals.end(inside, ended)
    if (payout !== null) await publish(inside, { kind: 'wallet.payout_changed', payout })
    return payout !== null
  }

  async function confirm(withdrawal: Withdrawal, how: WithdrawalEnd): Promise<void> {
    const { id, owner, amount } = withdrawal
    await store.together(async (inside) => {
      if (!(await end(inside, { id, from: 'submitted', how, now: clock.now() }))) return
      const shares = [{ to: { platform: 'treasury' as const }, amount }]
      const reference = how.state === 'confirmed' ? how.transactionHash : null
      await ledger.capture({ hold: id, owner, amount, shares, kind: 'payout', reference, announcements: [] }, inside)
    })
    measures.count('withdrawal_confirmed')
    await failpoints.reach('withdrawal paid')
  }

  async function fail({ id, owner, state }: Withdrawal, reason: FailureReason): Promise<void> {
    await store.together(async (inside) => {
      const ended = { id, from: state, how: { state: 'failed', reason } as const, now: clock.now() }
      if (!(await end(inside, ended))) return
      await ledger.release({ hold: id, owner, announcements: [] }, inside)
      await outflow.giveBack(id, inside)
    })
    measures.count('withdrawal_failed')
    log.warn({ withdrawal: id, reason }, 'a withdrawal failed and its money was returned')
  }

  return { record, confirm, fail }
}

const OPEN_MAX = 500
const AT_ONCE = 8
