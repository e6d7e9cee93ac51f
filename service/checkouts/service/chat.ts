import type { Statements } from '../../kit/transaction.ts'
import type { Pass } from '../../passes/model.ts'
import { runsLeftOf } from '../../passes/model.ts'
import type { PassHooks } from '../../passes/service/rights.ts'
import { rightOf, type Sale } from '../../sales/model.ts'
import { notAChat } from '../errors.ts'
import type { ChatContext, Checkout, Turn } from '../model.ts'
import type { ChatStore } from '../stores.ts'
import { assertTurn, bounded, historyOf, loadSince } from '../rules/chat.ts'
import { assertShown, paymentOf } from '../rules/lifecycle.ts'
import { placeOf } from '../rules/plans.ts'
import type { CheckoutDeps } from './deps.ts'
import type { Showing } from './presenter.ts'

/** What the sales of a chat write, in their own transactions. */
export function createChatHooks({ store, passes }: ChatHookDeps) {
  return {
    /** A run of a pass is a turn. Throws where another one is under way. Its pass is locked: the run was counted. */
    async begin(inside: Statements, sale: Sale, { chat, owner }: Checkout): Promise<void> {
      const right = rightOf(sale)
      if (chat === null || right?.kind !== 'pass' || right.id === null) return
      const turn = { saleId: sale.id, passId: right.id, owner, now: sale.createdAt }
      assertTurn(await store.turnLoad(inside, turn, loadSince(sale.createdAt)))
      await store.addTurn(inside, turn)
    },

    /** The purchase of a pass has a message too. It is paid, so nothing can refuse it. */
    async bought(
      inside: Statements,
      sale: Sale,
      { checkout, pass }: { checkout: Checkout; pass: Pass },
    ): Promise<void> {
      const { chat, owner } = checkout
      if (chat !== null)
        await store.addTurn(inside, { saleId: sale.id, passId: pass.id, owner, now: sale.endedAt ?? sale.createdAt })
    },

    /** What the workflow is sent with the message. Null where it is no chat. */
    async contextOf(inside: Statements, sale: Sale, { chat }: Checkout): Promise<ChatContext | null> {
      if (chat === null) return null
      const turn = await store.turnOf(inside, sale.id)
      // A turn that was paid alone.
      if (turn === null) return { id: paymentOf(sale).id, turn: 1, turnsLeft: 0, history: [] }
      const { passId: id, number } = turn
      const pass = await passes.find(inside, id)
      if (pass === null) throw new Error('the pass of a turn was not found')
      const history = historyOf(await store.turnsOf(inside, id, number))
      return { id, turn: number, turnsLeft: runsLeftOf(pass), history }
    },
  }
}

interface ChatHookDeps {
  store: ChatStore
  passes: Pick<PassHooks, 'find'>
}

/** A chat, for the holder of the pass that pays for it. */
export function createChats({ store, passes, selling, receiptOf, clock, showing }: ChatDeps) {
  return {
    async chatOf(id: string, token: string): Promise<ChatView> {
      const checkout = assertShown(await store.find(id), clock.now())
      if (checkout.chat === null) throw notAChat()
      const pass = await passes.byToken(placeOf(checkout, showing.addressOf(checkout)), token)
      const turns = bounded(await store.turnsOf(null, pass.id, null))
      return {
        pass,
        turns: turns.map((turn) => ({
          ...turn,
          token: selling.tokens.of(turn.saleId),
          receiptUrl: receiptOf(turn.saleId),
        })),
      }
    },
  }
}

export interface ChatView {
  pass: Pass
  /** The latest, oldest first. The token follows the payment of a turn, and fetches its whole answer. */
  turns: (Turn & { token: string; receiptUrl: string })[]
}

interface ChatDeps extends Pick<CheckoutDeps, 'store' | 'passes' | 'selling' | 'receiptOf' | 'clock'> {
  showing: Pick<Showing, 'addressOf'>
}
