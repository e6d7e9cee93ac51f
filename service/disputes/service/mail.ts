import { toDecimal } from '../../kit/money.ts'
import { withoutLinks } from '../../kit/text.ts'
import type { NamedSale, Sale } from '../../sales/model.ts'
import type { Dispute } from '../model.ts'

/** What a seller is told of a new dispute. */
export function openedMail(dispute: OpenDispute, bought: Bought | null, page: string) {
  const { saleId, reason, text, answerBy, unanswered, owner } = dispute
  const until = answerBy.toISOString().slice(0, 16).replace('T', ' at ')
  const product =
    bought === null ? '' : `Product: ${bought.name ?? bought.sale.product}, ${toDecimal(bought.sale.amount)} USDC\n`
  const words = text === null ? '' : `The buyer wrote (their words, not ours):\n\n${quoted(text)}\n\n`
  return {
    subject: 'A buyer reported a problem with a payment',
    text: `${product}Payment: ${saleId} (${owner.environment})
Reason: ${reason.replaceAll('_', ' ')}

${words}Answer it here, until ${until} UTC:

${page}

Without an answer ${unanswered === 'refund' ? 'the payment is refunded from your balance' : 'the report is closed'}.
`,
  }
}

interface Bought extends Pick<NamedSale, 'name'> {
  sale: Pick<Sale, 'product' | 'amount'>
}

type OpenDispute = Pick<Dispute, 'saleId' | 'reason' | 'text' | 'answerBy' | 'unanswered' | 'owner'>

/**
 * A buyer's words in a mail of ours: each line is marked as theirs, no mail program makes a link of an address in them,
 * and they are cut.
 */
function quoted(text: string): string {
  const cut = text.length <= QUOTED_MAX ? text : `${text.slice(0, QUOTED_MAX)} …`
  const lines = withoutLinks(cut).split('\n')
  return lines.map((line) => `> ${line.trim()}`).join('\n')
}

const QUOTED_MAX = 1_000
