import { accountOf, type Caller } from '../../kit/caller.ts'
import { isId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Right } from '../../sales/model.ts'
import { ownPassMissing } from '../errors.ts'
import { runsLeftOf, type Pass, type PassFilter, type Place, type Plan, type WalletProof } from '../model.ts'
import { eventDataOf, hashOfToken } from '../rules.ts'
import { createRights, eventOf, tellEnded, type PassDeps } from './rights.ts'
import { turnOf } from '../../queue/model.ts'

/** Runs that customers have paid for ahead, for them and for the sellers. */
export function createPasses(deps: PassDeps) {
  const { store, tokens, clock, event, announce, mail, pageOf, nameOf } = deps
  const rights = createRights(deps)

  return {
    ...rights,

    /** The passes that these payments have bought or used, by the payment's id. */
    async ofPayments(payments: readonly PassPayment[]): Promise<ReadonlyMap<string, Pass>> {
      const used = payments.flatMap(({ id: sale, right }) =>
        right?.kind === 'pass' && right.id !== null ? [{ sale, pass: right.id }] : [],
      )
      const bought = payments.filter(({ plan }) => plan !== null).map(({ id }) => id)
      const [found, named] = await Promise.all([
        bought.length === 0 ? new Map<string, Pass>() : store.ofSales(bought),
        used.length === 0 ? new Map<string, Pass>() : store.findAll(used.map(({ pass }) => pass)),
      ])
      const usedPasses = used.flatMap(({ sale, pass }): [string, Pass][] => {
        const one = named.get(pass)
        return one === undefined ? [] : [[sale, one]]
      })
      return new Map([...found, ...usedPasses])
    },

    /** Null where the secret that it follows from has changed since. */
    tokenOf({ id, tokenHash }: Pick<Pass, 'id' | 'tokenHash'>): string | null {
      const token = tokens.of(id)
      return hashOfToken(token).equals(tokenHash) ? token : null
    },

    /** How many trial runs a wallet has left. Anyone may ask: it is shown before the wallet signs. */
    async trialsLeft({ checkoutId, testMode: simulated, trialRuns }: Place, holder: WalletProof['address']) {
      const used = await store.trialsUsed({ checkoutId, holder, simulated })
      return Math.max(0, trialRuns - used)
    },

    async list(caller: Caller, filter: PassFilter, { limit, cursor }: { limit: number; cursor: string | null }) {
      const page = { limit: limit + 1, before: cursor }
      const found = await store.list(accountOf(caller), filter, page)
      const passes = found.slice(0, limit)
      return { passes, cursor: found.length > limit ? (passes.at(-1)?.id ?? null) : null }
    },

    /** The same in pages that are counted, for a table. */
    async page(caller: Caller, filter: PassFilter, { limit, offset }: { limit: number; offset: number }) {
      const owner = accountOf(caller)
      const [passes, total] = await Promise.all([
        store.list(owner, filter, { limit, before: null, offset }),
        store.count(owner, filter),
      ])
      return { passes, total }
    },

    async get(caller: Caller, id: string): Promise<Pass> {
      const { userId, environment } = accountOf(caller)
      const pass = isId('pas', id) ? await store.find(id) : null
      if (pass?.owner.userId !== userId || pass.owner.environment !== environment) throw ownPassMissing()
      return pass
    },

    isUsed: (inside: Statements, sale: string) => store.isUsed(inside, sale),

    /** The first run of the plan that this sale paid for comes back, once. */
    giveFirstBack: (sale: string): Promise<void> =>
      store.inTransaction((inside) => store.giveFirstBack(inside, sale, clock.now())),

    /** The seller ends it. A pass that has ended stays as it is. */
    async end(caller: Caller, id: string): Promise<Pass> {
      const before = await this.get(caller, id)
      const now = clock.now()
      const ended = await store.inTransaction(async (inside) => {
        const pass = await store.end(inside, before.owner, id, now)
        if (pass !== null) await tellEnded(inside, pass, event, now)
        return pass
      })
      return ended ?? (await this.get(caller, id))
    },

    /** Mails the customer that a pass ends soon, unless it was extended or has ended meanwhile. */
    async remind(id: string, mailId: string): Promise<void> {
      const pass = await store.find(id)
      if (pass?.email == null || pass.until === null || pass.endedAt !== null || pass.remindAt !== null) return
      const name = await nameOf(pass.checkoutId)
      if (name !== null) await mail({ id: mailId, to: pass.email, ...reminderOf(pass, name, pageOf(pass.checkoutId)) })
    },

    sweepers: {
      /** Passes whose time is over end, with their event. */
      async due(now: Date): Promise<void> {
        await store.inTransaction(async (inside) => {
          for (const pass of await store.endDue(inside, now, AT_ONCE)) await tellEnded(inside, pass, event, now)
        })
      },

      /** The event, and the mail's work, are written with the reminder's end: there is one of each. */
      async reminders(now: Date): Promise<void> {
        await store.inTransaction(async (inside) => {
          for (const pass of await store.takeReminders(inside, now, AT_ONCE)) {
            const id = eventOf(pass.id, `ending ${pass.until?.toISOString() ?? ''}`)
            const data = { ...eventDataOf(pass, now) }
            await event(inside, { id, owner: pass.owner, event: 'pass.ending', data })
            if (pass.email === null) continue
            await announce(inside, [{ topic: ENDING, payload: { passId: pass.id }, turn: turnOf(pass.owner) }])
          }
        })
      },
    },
  }
}

interface PassPayment {
  id: string
  right: Pick<Right, 'kind' | 'id'> | null
  plan: Plan | null
}

export type Passes = ReturnType<typeof createPasses>

/** The topic of the mails. */
export const ENDING = 'passes.ending'

const AT_ONCE = 100

function reminderOf(pass: Pass, name: string, url: string): { subject: string; text: string } {
  const left = runsLeftOf(pass)
  const runs = left === null ? '' : ` You have ${String(left)} runs left.`
  const until = (pass.until ?? pass.createdAt).toISOString().replace('T', ' ').slice(0, 16)
  return {
    subject: `${pass.planName} ends soon: ${name}`,
    text: [
      `Your plan ${pass.planName} for ${name} ends at ${until} UTC.${runs}`,
      '',
      `Nothing is charged by itself. To go on, pay for the plan again: ${url}`,
      'Pay with the same wallet, and the new period begins where this one ends.',
      '',
      'You get this one mail because you entered this address when you paid.',
    ].join('\n'),
  }
}
