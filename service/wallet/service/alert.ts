import { ownerOf, type Caller } from '../../kit/caller.ts'
import { newId } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import { walletMissing } from '../../ledger/errors.ts'
import type { Alert } from '../ports.ts'
import { alertChange, lowBalanceOf } from '../rules.ts'
import type { WalletDeps } from './deps.ts'

/** Notifies an owner once when their balance is low, and again only after it has recovered in between. */
export function createAlerts(deps: WalletDeps) {
  const { ledger, store, clock, settings } = deps

  async function check(alert: Alert): Promise<void> {
    const { owner, below } = alert
    const wallet = await ledger.wallet(owner)
    if (wallet === null) return
    const { available } = wallet.funds
    const change = alertChange(alert, available)
    if (change === null) return
    await store.together(async (inside) => {
      const now = clock.now()
      if (!(await store.alerts.mark(owner, change === 'alert' ? now : null, inside)) || change !== 'alert') return
      const data = lowBalanceOf({ available, below, topUpUrl: settings.topUpUrl })
      await deps.publish(inside, { kind: 'wallet.low_balance', owner, id: newId('evt', now), data })
    })
  }

  return {
    async set(caller: Caller, below: Usdc | null): Promise<void> {
      const owner = ownerOf(caller)
      if ((await ledger.wallet(owner)) === null) throw walletMissing()
      await store.alerts.set(owner, below)
    },
    find: (caller: Caller) => store.alerts.find(ownerOf(caller)),

    async lookAtAll(signal: AbortSignal): Promise<void> {
      let last: Alert | null = null
      while (!signal.aborted) {
        const page: readonly Alert[] = await store.alerts.after(last, PAGE)
        for (const alert of page) await check(alert)
        last = page.at(-1) ?? null
        if (page.length < PAGE) return
      }
    },
  }
}

const PAGE = 500
