import { randomBytes } from 'node:crypto'
import type { Chain, Hex } from '../../chain/model.ts'
import type { OwnAddress, Sweep } from '../model.ts'
import { authorizationOf, COLLECT, isOver } from '../rules.ts'
import { transferRequest } from '../../x402/payload.ts'
import type { WalletDeps } from './deps.ts'

/**
 * Carries what deposit addresses took into the treasury, without gas of their own: each signs an authorization,
 * which the facilitator carries out. It changes nobody's balance; withdrawals are paid from there.
 */
export function createCollecting(deps: WalletDeps) {
  const { store, book, chains, clock, log, measures, signer, settings } = deps

  async function collect(chain: Chain, signal: AbortSignal): Promise<void> {
    if (book === null || signer?.account !== book.account) return
    const network = chain.network.name
    const open = await store.sweeps.open(network)
    const candidates = await store.sweeps.candidates(network, signer.account, settings.sweepMinimum, COLLECT.most)
    const begun = async (address: OwnAddress): Promise<void> => {
      const sweep = await begin(chain, address)
      if (sweep !== null) await collectSweep(chain, sweep)
    }
    const work = [
      ...open.map((sweep) => () => collectSweep(chain, sweep)),
      ...candidates.map((address) => () => begun(address)),
    ]
    for (let at = 0; at < work.length && !signal.aborted; at += COLLECT.atOnce) {
      const outcomes = await Promise.allSettled(work.slice(at, at + COLLECT.atOnce).map((one) => one()))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) log.warn({ err: failed.reason as unknown, network }, 'a sweep skips a turn')
    }
  }

  /** Stored before it is signed, so that whoever comes after a crash knows what may be under way. */
  async function begin(chain: Chain, { index, address }: OwnAddress): Promise<Sweep | null> {
    const amount = await chain.balanceOf(address)
    if (amount < settings.sweepMinimum) return null
    const now = clock.now()
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`
    const validBefore = BigInt(Math.floor(now.getTime() / 1000) + COLLECT.validSeconds)
    return await store.sweeps.begin({ network: chain.network.name, index, address, amount, nonce, validBefore }, now)
  }

  async function collectSweep(chain: Chain, sweep: Sweep): Promise<void> {
    if (signer === null || book === null) return
    const { used, block } = await chain.authorizationAt(sweep.address, sweep.nonce)
    if (used) return await end(sweep, 'settled', null)
    if (isOver(sweep, block.timestamp)) return await end(sweep, 'failed', null)
    const { address: payer, index, validBefore } = sweep
    const signed = signer.sign(
      index,
      chain.network,
      authorizationOf({ ...sweep, to: book.treasury }, { payer, validBefore }),
    )
    const payment = transferRequest(chain.network, signed)
    const operation = `sweep ${sweep.nonce}`
    const answer = await deps.facilitator.settle(payment, { operation, ownsResult: true, retryFailed: true })
    if (answer.status === 'settled') await end(sweep, 'settled', answer.txHash)
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
