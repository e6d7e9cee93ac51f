import { createServer } from 'node:http'
import { parentPort } from 'node:worker_threads'

// Responds at once, in a thread of its own, so that its cost does not fall on the worker. Reports the arrivals in
// batches.
let came = []
const server = createServer((request, response) => {
  came.push([request.headers['webhook-id'], performance.timeOrigin + performance.now()])
  request.resume()
  response.writeHead(200, { 'content-length': 2 }).end('ok')
})
server.keepAliveTimeout = 30_000
server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }))
setInterval(() => {
  if (came.length === 0) return
  parentPort.postMessage({ came })
  came = []
}, 20)
