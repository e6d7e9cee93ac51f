import { createServer } from 'node:http'
import { Pool } from 'undici'

/** The least that a proxy in Node can do: it passes every request on and its answer back, and looks at neither. */
const pool = new Pool(process.env.UPSTREAM_URL, { connections: 128 })
const server = createServer((request, response) => {
  const { method, url: path, headers } = request
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  pool.request({ method, path, headers, body: hasBody ? request : null }).then(
    ({ statusCode, headers: given, body }) => {
      response.writeHead(statusCode, given)
      body.pipe(response)
    },
    () => response.writeHead(502).end(),
  )
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
