import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** For whoever has to name its port before it listens. Below what systems give to outgoing connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000)
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
