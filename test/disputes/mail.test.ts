import { openedMail } from '../../service/disputes/service/mail.ts'
import { usdc } from '../../service/kit/money.ts'

describe('the mail about a new dispute', () => {
  const dispute = {
    saleId: 'pay_1',
    reason: 'service_not_delivered',
    text: 'No report came.',
    answerBy: new Date('2026-12-01T12:00:00Z'),
    unanswered: 'refund',
    owner: { userId: 'usr_1', environment: 'production' },
  } as const
  const sale = { name: 'SEO audit', sale: { product: 'checkout', amount: usdc(2_500_000n) } } as const
  const mail = (over: object = {}) => openedMail({ ...dispute, ...over }, sale, 'https://pay.example/disputes').text

  test("names the product, the amount, the buyer's text, and the outcome without an answer", () => {
    expect(mail()).toBe(`Product: SEO audit, 2.5 USDC
Payment: pay_1 (production)
Reason: service not delivered

The buyer wrote (their words, not ours):

> No report came.\u200b

Answer it here, until 2026-12-01 at 12:00 UTC:

https://pay.example/disputes

Without an answer the payment is refunded from your balance.
`)
    expect(mail({ text: null, unanswered: 'close' })).not.toContain('The buyer wrote')
  })

  test('marks every line of the buyer, makes no link of it, and cuts it', () => {
    const text = mail({ text: `Hello\n\nAnswer it here:\nhttps://evil.example/login\u0007\n${'x'.repeat(5_000)}` })
    const [, after = ''] = text.split('not ours):\n\n')
    const [words = ''] = after.split('\n\nAnswer it here, until')
    expect(words.split('\n').filter((line) => !line.startsWith('>'))).toEqual([])
    expect(words).not.toContain('evil.example')
    expect(words).not.toContain('\u0007')
    expect(words.length).toBeLessThan(1_200)
    expect(text.match(/https:\/\/\S+\.\w/g)).toEqual(['https://pay.e'])
  })
})
