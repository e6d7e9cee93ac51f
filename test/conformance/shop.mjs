import express from 'express'

/** A seller's own server with the published middleware, built into the file that the environment names. */
const { PACKAGE, OPTIONS } = process.env
const { paywall } = await import(PACKAGE)
const app = express()
app.use(express.json())
app.use(paywall({ ...JSON.parse(OPTIONS), onEvent: (event) => process.send({ event }) }))
app.get('/request', (_req, res) => res.json({ page: 'worth it', payer: res.locals.payment.payer }))
app.get('/tiered', (_req, res) => res.json({ page: 'worth it' }))
app.post('/tokens', (req, res) =>
  res.json({ echoed: req.body, usage: { prompt_tokens: 1000, completion_tokens: 2000 } }),
)
app.get('/minutes', (_req, res) => res.json({ page: 'worth it' }))
app.get('/stream', (_req, res) => {
  res.type('text/event-stream')
  res.write('data: one\n\n')
  setTimeout(() => res.end('data: two\n\n'), 50)
})
let tries = 0
app.post('/raw', express.text(), (req, res) => res.status(++tries === 1 ? 500 : 200).json({ got: req.body }))
app.get('/fails', (_req, res) => res.status(500).json({ fails: true }))
app.get('/free', (_req, res) => res.json({ free: true }))
const listening = app.listen(0, '127.0.0.1', () => {
  process.send({ origin: `http://127.0.0.1:${String(listening.address().port)}` })
})
