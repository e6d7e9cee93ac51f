import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'

/** A seller as the package's own instructions put one together; the only thing that is ours is the address. */
const { FACILITATOR_URL, NETWORK, PAY_TO, PRICE } = process.env
const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: FACILITATOR_URL })).register(
  NETWORK,
  new ExactEvmScheme(),
)
const accepts = { scheme: 'exact', price: PRICE, network: NETWORK, payTo: PAY_TO }
const app = express()
app.use(paymentMiddleware({ 'GET /paid': { accepts, description: 'A page' } }, server))
app.get('/paid', (_req, res) => res.json({ page: 'worth it' }))
const listening = app.listen(0, '127.0.0.1', () => {
  process.send({ origin: `http://127.0.0.1:${String(listening.address().port)}` })
})
