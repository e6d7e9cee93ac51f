import { startSmtp } from '../../harness/smtp.ts'
import { buy, imported, order, publishExample } from '../examples.ts'
import { Model, PICTURE } from '../model.ts'
import { runFile } from '../programs.ts'
import { startStorage } from '../storage.ts'
import type { PaymentView } from '../../../service/checkouts/views.ts'
import { formOf, paymentAt } from '../payments.ts'
import { asJson, until, type Credential, type World } from '../world.ts'

/** The examples that use the seller's own models, mail and storage: credentials chosen, nothing else changed. */
export function elsewhereStory(world: () => World): void {
  describe('the example with services of the seller', () => {
    it('report by mail sends the report, and charges nothing for a mail that is refused', async () => {
      const input = { topic: 'Why small teams ship faster', audience: 'beginners', email: 'ada@example.com' }
      const mails = await startSmtp()
      try {
        const { delivery } = await order(world(), 'report-by-mail', input, { smtp: await smtp(mails) })
        expect(delivery?.answer).toBe('**The outline is on its way** to ada@example.com.')
        expect(mails.received).toEqual([expect.stringMatching(/To: ada@example\.com[^]*Why small teams ship faster/)])
      } finally {
        await mails.close()
      }
      const closed = await startSmtp(true)
      try {
        const { payment } = await order(world(), 'report-by-mail', input, { smtp: await smtp(closed) })
        expect(payment.reason?.sentence).toMatch('The mail could not be sent.')
        expect(closed.received).toEqual([])
      } finally {
        await closed.close()
      }
    })

    it('image by prompt sells a link to a picture in the storage', async () => {
      const input = { picture: 'A lighthouse made of books', style: 'watercolour' }
      const [model, storage] = await Promise.all([new Model({}, 0).listen(), startStorage()])
      const credentials = { openAiApi: await openAi(model), s3: await s3(storage.url) }
      try {
        const { payment, delivery } = await order(world(), 'image-by-prompt', input, credentials)
        const file = `${payment.id}.png`
        expect(delivery?.answer).toBe(`[Open your picture](https://pictures.example.com/${file})`)
        expect([...storage.files]).toEqual([[`/pictures/${file}`, PICTURE]])
        expect(model.prompts).toEqual(['A lighthouse made of books\n\nStyle: watercolour'])
      } finally {
        await Promise.all([model.close(), storage.close()])
      }
      const { payment } = await order(world(), 'image-by-prompt', input, credentials)
      expect(payment.reason?.sentence).toMatch('This picture could not be drawn.')
    })

    it('chat with documents answers from the loaded documents, within one conversation', async () => {
      const model = await new Model({ input: 'May a kettle be returned?' }, 1, 'Documents').listen()
      try {
        const credentials = { openAiApi: await openAi(model) }
        const loaded = await runFile(world(), imported('chat-with-documents', credentials), 'Load documents')
        expect(loaded.error('Store the documents')).toBeUndefined()
        const workflow = await publishExample(world(), 'chat-with-documents', credentials)
        const answerTo = async (input: Record<string, unknown>) => (await buy(workflow, input)).delivery?.answer ?? ''

        const first = await answerTo({ question: 'May I return my kettle?' })
        expect(first).toMatch('A kettle may be returned for 30 days.')
        expect(questions()).toEqual(['May I return my kettle?'])
        const [, conversation] = /conversation number: ([0-9a-f-]{36})$/.exec(first)!

        await answerTo({ question: 'And the tea?', conversation })
        expect(questions()).toEqual(['May I return my kettle?', 'And the tea?'])

        await answerTo({ question: 'What did the others ask?' })
        expect(questions()).toEqual(['What did the others ask?'])
        await workflow.unpublish()
      } finally {
        await model.close()
      }

      function questions(): unknown[] {
        return model.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
      }
    })

    it('paid chat answers with the earlier messages, and counts the paid messages down', async () => {
      const model = await new Model({}, 0).listen()
      try {
        const workflow = await publishExample(world(), 'paid-chat', { openAiApi: await openAi(model) })
        const form = await formOf(workflow)
        const sendMessage = async (right: Record<string, unknown>, message: string) => {
          const { body } = await asJson(`${form}/pay`, 'POST', { ...right, input: { message } })
          const { payment } = body as PaymentView
          await until(async () => ((await paymentAt(payment)).delivery?.answer ?? null) !== null)
          return await paymentAt(payment)
        }
        const first = await sendMessage({ simulate: true, choice: { plan: 'messages' } }, 'Which tea is green?')
        // The stand-in repeats what it is asked.
        expect(first.delivery?.answer).toBe('Customer: Which tea is green?')
        expect(first.payment).toMatchObject({ amount: 1, pass: { runsLeft: 19 } })
        const next = await sendMessage({ pass: first.payment.pass?.token }, 'And black?')
        expect(next.delivery?.answer).toBe(
          'Customer: Which tea is green?\nYou: Customer: Which tea is green?\n\nCustomer: And black?',
        )
        expect(next.payment).toMatchObject({ amount: 0, pass: { runsLeft: 18 } })
        await workflow.unpublish()
      } finally {
        await model.close()
      }
    })

    it('translation sells a text at the price of its length, and refuses a longer one', async () => {
      const model = await new Model({}, 0).listen()
      try {
        const credentials = { openAiApi: await openAi(model) }
        const short = { text: 'Tea for {everybody}', language: 'French', length: 'Up to 1500 characters' }
        // The stand-in repeats what it is asked to translate.
        const sold = await order(world(), 'translation', short, credentials)
        expect(sold).toMatchObject({ payment: { amount: 0.3 }, delivery: { answer: 'Tea for {everybody}' } })
        expect(model.messages[0]).toMatchObject({
          role: 'system',
          content: expect.stringMatching("^Translate the user's message into French.") as unknown,
        })
        const long = { ...short, text: 'tea '.repeat(400) }
        const { payment } = await order(world(), 'translation', long, credentials)
        expect(payment.reason?.sentence).toMatch('Your text has 1600 characters, which is more than you chose.')
      } finally {
        await model.close()
      }
    })

    async function credential(type: string, data: Record<string, unknown>): Promise<Credential> {
      return await world().n8n.request<Credential>('POST', '/rest/credentials', {
        name: `Stand-in ${type}`,
        type,
        data,
      })
    }

    async function openAi({ url }: Model): Promise<Credential> {
      return await credential('openAiApi', { apiKey: 'none', url, header: false })
    }

    async function smtp({ url }: { url: string }): Promise<Credential> {
      const { hostname, port } = new URL(url)
      return await credential('smtp', { host: hostname, port: Number(port), secure: false, disableStartTls: true })
    }

    async function s3(endpoint: string): Promise<Credential> {
      const keys = { accessKeyId: 'id', secretAccessKey: 'secret', region: 'eu' }
      return await credential('s3', { endpoint, ...keys, forcePathStyle: true, ignoreSSLIssues: false })
    }
  })
}
