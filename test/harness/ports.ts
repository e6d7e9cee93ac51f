import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * A port for a process that must name it before it listens. Below the range that systems use for outgoing connections.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + randomInt(17_000)
    const probe = createServer()
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!free) continue
    const { port: found } = probe.address() as AddressInfo
    probe.close()
    await once(probe, 'close')
    return found
  }
}
