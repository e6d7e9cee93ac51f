import type { Socket } from 'node:net'
import { guardedConnector } from '../../service/outbound/connector.ts'
import { faultOf } from './fault.ts'
import { httpServer, type Listening } from './servers.ts'

/** Every socket is opened here, so the guard must hold here even if all earlier checks failed. */
describe('the connector', () => {
  let server: Listening
  beforeAll(async () => {
    server = await httpServer((_request, response) => response.end())
  })
  afterAll(() => server.close())

  const connect = (hostname: string, allowPrivate: boolean, addresses: readonly string[] = []): Promise<Socket> => {
    const policy = { allowPrivate, allowHosts: [] }
    const connector = guardedConnector(policy, () => Promise.resolve(addresses), 1000, undefined)
    return new Promise((resolve, reject) => {
      connector({ hostname, protocol: 'http:', port: String(server.port) }, (error, socket) => {
        if (error === null) resolve(socket)
        else reject(error)
      })
    })
  }

  it.each(['127.0.0.1', '::1', '[::1]', '::ffff:127.0.0.1', '0.0.0.0', '169.254.169.254'])(
    'opens no socket to the literal %s',
    async (hostname) => {
      expect((await faultOf(connect(hostname, false))).code).toBe('address_refused')
      expect(server.accepted()).toBe(0)
    },
  )

  it.each(['127.0.0.1', '::ffff:127.0.0.1', '0.0.0.0'])('refuses a name at %s', async (address) => {
    expect((await faultOf(connect('inner.test', false, [address]))).code).toBe('address_refused')
    expect(server.accepted()).toBe(0)
  })

  it.each([
    ['127.0.0.1', []],
    ['inner.test', ['127.0.0.1']],
  ])('connects where the policy allows it: %s', async (hostname, addresses) => {
    const socket = await connect(hostname, true, addresses)
    expect([socket.remoteAddress, socket.remotePort]).toEqual(['127.0.0.1', server.port])
    socket.destroy()
  })
})
