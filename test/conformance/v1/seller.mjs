import express from 'express'
import { paymentMiddleware } from 'x402-express'

/** A seller as the package's own instructions put one together; the only thing that is ours is the address. */
const { FACILITATOR_URL, NETWORK, PAY_TO, PRICE } = process.env
const app = express()
const routes = { 'GET /paid': { price: PRICE, network: NETWORK, config: { description: 'A page' } } }
app.use(paymentMiddleware(PAY_TO, routes, { url: FACILITATOR_URL }))
app.get('/paid', (_req, res) => res.json({ page: 'worth it' }))
const listening = app.listen(0, '127.0.0.1', () => {
  process.send({ origin: `http://127.0.0.1:${String(listening.address().port)}` })
})
