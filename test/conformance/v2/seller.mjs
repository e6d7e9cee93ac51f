import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions/bazaar'
import express from 'express'

/** A seller as the package's own instructions put one together; the only thing that is ours is the address. */
const { FACILITATOR_URL, NETWORK, PAY_TO, PRICE } = process.env
const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: FACILITATOR_URL })).register(
  NETWORK,
  new ExactEvmScheme(),
)
server.registerExtension(bazaarResourceServerExtension)
const accepts = { scheme: 'exact', price: PRICE, network: NETWORK, payTo: PAY_TO }
const app = express()
const city = { properties: { city: { type: 'string' } } }
const extensions = declareDiscoveryExtension({ input: { units: 'metric' }, pathParamsSchema: city })
app.use(
  paymentMiddleware(
    {
      'GET /paid': { accepts, description: 'A page' },
      'GET /cities/:city': { accepts, description: 'The weather of a city', extensions },
    },
    server,
  ),
)
app.get('/paid', (_req, res) => res.json({ page: 'worth it' }))
app.get('/cities/:city', (_req, res) => res.json({ degrees: 21 }))
const listening = app.listen(0, '127.0.0.1', () => {
  process.send({ origin: `http://127.0.0.1:${String(listening.address().port)}` })
})
