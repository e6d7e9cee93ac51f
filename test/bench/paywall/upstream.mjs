import { createServer } from 'node:http'

/** The seller's API, as fast as Node can be. */
const BODY = JSON.stringify({ text: 'x'.repeat(200), usage: { prompt_tokens: 10, completion_tokens: 20 } })
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(BODY.length) })
  response.end(BODY)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
