import type { Language } from '../../kit/language.ts'
import type { Lines } from '../model.ts'
import { testOf } from './issuing.ts'
import { MAIL_WORDS, type MailWords } from './mail-words.ts'

/** What a mail to a buyer says. Nothing in it is the buyer's own text: strangers enter addresses of others. */
export interface MailedSale {
  /** Null where the account has no name. */
  seller: string | null
  lines: Lines
  /** The page of the payment. It stays. */
  link: string
  language: Language
}

export function receiptMail({ seller, lines, link, language }: MailedSale): { subject: string; text: string } {
  const words = MAIL_WORDS[language]
  const { product, quantity, unit, coupon, discount, total } = lines
  return {
    subject: say(words.receipt, { product: inLine(product) }),
    text: paragraphs([
      testIn(lines, words),
      words.paid,
      [
        inLine(product),
        quantity === 1 ? null : `${String(quantity)} × ${unit} USDC`,
        discount === null ? null : `${words.discount}${coupon === null ? '' : ` (${coupon})`}: −${discount} USDC`,
        `${words.total}: ${total} USDC`,
        seller === null ? null : `${words.seller}: ${inLine(seller)}`,
      ],
      [words.link, link],
      words.attached,
      words.why,
    ]),
  }
}

/** `amount`: what went back of it with this refund. `byTransfer`: to the order's address, so that the buyer collects it. */
export function refundMail(
  { seller, lines, link, language }: MailedSale,
  { amount, byTransfer }: { amount: string; byTransfer: boolean },
) {
  const words = MAIL_WORDS[language]
  return {
    subject: say(words.refund, { product: inLine(lines.product) }),
    text: paragraphs([
      testIn(lines, words),
      say(byTransfer ? words.refundedTransfer : words.refunded, { amount: `${amount} USDC` }),
      [inLine(lines.product), seller === null ? null : `${words.seller}: ${inLine(seller)}`],
      [words.link, link],
      words.why,
    ]),
  }
}

function testIn(lines: Lines, words: MailWords): string | null {
  const test = testOf(lines)
  return test === null ? null : test === 'simulated' ? words.test : words.testTokens
}

type Part = string | null | readonly (string | null)[]

function paragraphs(parts: readonly Part[]): string {
  const texts = parts.map((part) => (part === null || typeof part === 'string' ? [part] : part))
  const present = texts.map((lines) => lines.filter((line) => line !== null)).filter((lines) => lines.length > 0)
  return `${present.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function say(text: MailWords[keyof MailWords], values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** Subjects and lines end where they are meant to. */
function inLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
