import { createServer } from 'node:http'

/* A tool's server that only responds, so that everything else is measured. */
const ANSWER = JSON.stringify({ id: 1, title: 'A note', tags: ['one', 'two'], written: '2026-01-31T12:00:00.000Z' })
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ANSWER) }

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, HEADERS).end(ANSWER))
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'))
