import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Page {
  url: string
  close(): Promise<void>
}

/** A third party's server: the test decides how it answers each request, or that it never does. */
export async function startPage(answer: (response: ServerResponse) => void): Promise<Page> {
  const server = createServer((_, response) => {
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
