import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'

/** The stock middleware in front of an API that is elsewhere, as plainly as Node does it. */
const { FACILITATOR_URL, NETWORK, PAY_TO, PRICE, UPSTREAM_URL } = process.env
const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: FACILITATOR_URL })).register(
  NETWORK,
  new ExactEvmScheme(),
)
const accepts = { scheme: 'exact', price: PRICE, network: NETWORK, payTo: PAY_TO }
const app = express()
app.use(paymentMiddleware({ 'GET /paid': { accepts, description: 'A page' } }, server))
app.get('/paid', async (_req, res) => {
  const answer = await fetch(`${UPSTREAM_URL}/paid`)
  res
    .status(answer.status)
    .type('json')
    .send(await answer.text())
})
const listening = app.listen(0, '127.0.0.1', () => {
  process.send({ origin: `http://127.0.0.1:${String(listening.address().port)}` })
})
