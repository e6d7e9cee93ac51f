import { BODY, formOf, untilRemoved, outputOf, simulate, type FormLink } from '../payments.ts'
import { asJson, until, type World } from '../world.ts'

/** A builder's test: a temporary form for one payment. */
export function listeningStory(world: () => World): void {
  describe('listening for a test event', () => {
    it('creates a temporary form, to which the test address redirects', async () => {
      const workflow = await world().makeWorkflow()
      await workflow.listen()
      const answer: { status: number; body: FormLink } = await asJson(workflow.address('webhook-test'), 'POST')
      expect(answer).toEqual({
        status: 200,
        body: { message: expect.any(String), form_url: expect.stringMatching(/\/p\/chk_\w+$/), test_mode: true },
      })
      const led = await fetch(workflow.address('webhook-test'), { redirect: 'manual' })
      expect([led.status, led.headers.get('location')]).toEqual([302, answer.body.form_url])
      expect((await asJson(answer.body.form_url)).body.checkout).toMatchObject({
        lifetime: 'temporary',
        status: 'active',
      })
      await workflow.stopListening()
    })

    it("runs the workflow with a simulated payment's input, and then removes the form", async () => {
      const workflow = await world().makeWorkflow()
      await workflow.listen()
      const form = await formOf(workflow, 'webhook-test')
      const payment = await simulate(form, { website: 'https://example.com', pages: 7 })
      const [run] = await workflow.runs(1)
      expect(run).toEqual({ mode: 'manual', data: outputOf(payment, { website: 'https://example.com', pages: 7 }) })
      await untilRemoved(form)
    })

    it('runs it with an unsigned body of the shape of a payment, and refuses one of another shape', async () => {
      const workflow = await world().makeWorkflow()
      await workflow.listen()
      const wrong = await asJson(workflow.address('webhook-test'), 'POST', { ...BODY, input: 'x' })
      expect(wrong).toMatchObject({ status: 400, body: { details: { input: 'must be an object' } } })
      expect((await asJson(workflow.address('webhook-test'), 'POST', BODY)).status).toBe(200)
      expect(await workflow.runs(1)).toEqual([{ mode: 'manual', data: BODY }])
    })

    it('ends with the form, when no payment came', async () => {
      const workflow = await world().makeWorkflow()
      await workflow.listen()
      const form = await formOf(workflow, 'webhook-test')
      await workflow.stopListening()
      await untilRemoved(form)
    })

    it('keeps the link alive when the workflow is published in the meantime', async () => {
      const workflow = await world().makeWorkflow()
      await workflow.listen()
      const form = await formOf(workflow, 'webhook-test')
      await workflow.publish()
      expect(await formOf(workflow)).toBe(form)
      await workflow.stopListening()
      // The hook that ends listening has run by the time that the address is gone.
      await until(async () => (await fetch(workflow.address('webhook-test'))).status === 404)
      expect((await asJson(form)).body.checkout).toMatchObject({ lifetime: 'persistent', status: 'active' })
      await workflow.unpublish()
    })
  })
}
