import express from 'express'
import { collectDefaultMetrics, Registry } from 'prom-client'

/* A server whose readers take time and memory out of proportion: the measurement used on the service must detect it. */

const registry = new Registry()
collectDefaultMetrics({ register: registry })
const app = express()
app.use(express.text({ limit: '1mb', type: () => true }))
app.get('/metrics', async (_request, response) => {
  response.send(await registry.metrics())
})
app.post('/proportionate', (request, response) => {
  response.send(String(String(request.body).split('0').length))
})
app.post('/slow', (request, response) => {
  response.send(String(String(request.body).replace(/0+$/, '').length))
})
app.post('/large', (request, response) => {
  // By the fourth power: of 8 kB it is 64 MB, all of it there until the answer, and of 2 kB a quarter of one.
  const hoard = Buffer.alloc(16_384 * (String(request.body).length / 1_024) ** 4, 1)
  setTimeout(() => response.send(String(hoard.length)), 100)
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') process.stdout.write(`"ready" ${String(address.port)}\n`)
})
