import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Storage {
  url: string
  /** The stored files by path. */
  files: Map<string, Buffer>
  close(): Promise<void>
}

/** Stands in for a storage behind the interface of S3: tells a bucket's region, and takes signed files. */
export async function startStorage(): Promise<Storage> {
  const files = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') !== true) response.writeHead(403).end()
      else if (request.method === 'PUT') {
        files.set(new URL(request.url ?? '', 'http://storage').pathname, Buffer.concat(chunks))
        response.end()
      } else {
        const region = '<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">eu</LocationConstraint>'
        response.writeHead(200, { 'content-type': 'application/xml' }).end(region)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    files,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
