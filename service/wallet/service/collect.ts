import { randomBytes } from 'node:crypto'
import type { Chain, Hex } from '../../chain/model.ts'
import type { OwnAddress, Sweep } from '../model.ts'
import { authorizationOf, COLLECT } from '../rules.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import { send } from '../../transfers/service/send.ts'
import type { WalletDeps } from './deps.ts'

/**
 * Sweeps deposit addresses into the treasury without gas of their own: each signs an authorization, which the
 * facilitator settles. No balance changes; withdrawals are paid from the treasury.
 */
export function createCollecting(deps: WalletDeps) {
  const { store, book, chains, clock, log, measures, signer, settings } = deps

  /**
   * The last address of the turn before, on each network. Those whose money is gone, as after a restore, are candidates as long
   * as the books say otherwise: they must not keep the others from their turn.
   */
  const lasts = new Map<string, number>()

  async function collect(chain: Chain, signal: AbortSignal): Promise<void> {
    if (book === null || signer?.account !== book.account) return
    const network = chain.network.name
    const open = await store.sweeps.open(network)
    const candidates = await store.sweeps.candidates(
      { network, account: signer.account, minimum: settings.sweepMinimum },
      { after: lasts.get(network) ?? -1, limit: COLLECT.most },
    )
    lasts.set(network, candidates.at(-1)?.index ?? -1)
    const work = [
      ...open.map((sweep) => () => settle(chain, sweep)),
      ...candidates.map((address) => async () => {
        const sweep = await begin(chain, address)
        if (sweep !== null) await settle(chain, sweep)
      }),
    ]
    for (let at = 0; at < work.length && !signal.aborted; at += COLLECT.atOnce) {
      const outcomes = await Promise.allSettled(work.slice(at, at + COLLECT.atOnce).map((one) => one()))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) log.warn({ err: failed.reason as unknown, network }, 'a sweep failed; retrying')
    }
  }

  /** Stored before it is signed, so that after a crash the transfers that may be in progress are known. */
  async function begin(chain: Chain, { index, address }: OwnAddress): Promise<Sweep | null> {
    const amount = await chain.balanceOf(address)
    if (amount < settings.sweepMinimum) return null
    const now = clock.now()
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`
    const validBefore = BigInt(Math.floor(now.getTime() / 1000) + COLLECT.validSeconds)
    return await store.sweeps.begin({ network: chain.network.name, index, address, amount, nonce, validBefore }, now)
  }

  async function settle(chain: Chain, sweep: Sweep): Promise<void> {
    if (signer === null || book === null) return
    const { address: payer, index, nonce, validBefore } = sweep
    const authorization = authorizationOf({ ...sweep, to: book.treasury }, { payer, validBefore })
    const outcome = await outcomeOf(chain, { ...authorization, pays: null, seenBlock: null }, settings.confirmations)
    if (outcome.state === 'used' && outcome.final) await end(sweep, 'settled', outcome.use.hash)
    if (outcome.state === 'over' || outcome.state === 'spent') await end(sweep, 'failed', null)
    if (outcome.state !== 'open') return
    const signed = signer.sign(index, chain.network, authorization)
    await send(deps, { kind: 'sweep', network: chain.network, signed, operation: `sweep ${nonce}` })
  }

  async function end(sweep: Sweep, state: 'settled' | 'failed', hash: Hex | null): Promise<void> {
    await store.sweeps.end(sweep, state, hash, clock.now())
    measures.count(`sweep_${state}`)
  }

  return [...chains.values()].map((chain) => ({
    network: chain.network.name,
    run: (signal: AbortSignal) => collect(chain, signal),
  }))
}
