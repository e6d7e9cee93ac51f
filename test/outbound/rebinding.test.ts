import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import { faultOf } from './fault.ts'
import { nameserver, type Nameserver } from './nameserver.ts'
import { httpServer, type Listening } from './servers.ts'

/** In a public range, but neither allocated nor routed: a connection to it goes nowhere. */
const PUBLIC_V6 = '2fff::1'

describe('a name whose answers change', () => {
  let names: Nameserver
  let victim: Listening
  let client: Outbound
  let url: (name: string) => string

  beforeAll(async () => {
    names = await nameserver({
      'rebinding.test': ['1.1.1.1', '127.0.0.1'],
      'metadata.test': ['1.1.1.1', '169.254.169.254'],
      'flip.test': ['127.0.0.1', '1.1.1.1'],
      'steady.test': ['127.0.0.1'],
    })
    victim = await httpServer((_request, response) => response.end('the inner service'))
    client = outboundClient({ policy: { allowPrivate: false, allowHosts: [] }, resolve: names.resolve })
    url = (name) => `http://${name}:${String(victim.port)}/`
  })
  afterAll(async () => {
    await client.close()
    await victim.close()
    await names.close()
  })

  it.each(['rebinding.test', 'metadata.test'])('is refused at the call though it passed before: %s', async (name) => {
    await client.checkAddress(url(name))
    const fault = await faultOf(client.send({ url: url(name) }))
    expect([fault.code, fault.kind]).toEqual(['address_refused', 'invalid'])
    expect(fault.message).toBe(
      `${name} cannot be called: it is not at a public address; the operator of this server can allow a private one with ALLOW_HOSTS.`,
    )
    expect(victim.accepted()).toBe(0)
  })

  it('is refused at a private answer, and passes the check at a later public one', async () => {
    expect((await faultOf(client.send({ url: url('flip.test') }))).code).toBe('address_refused')
    await client.checkAddress(url('flip.test'))
    expect(victim.accepted()).toBe(0)
  })

  it('is resolved once per connection, so no change fits between check and connect', async () => {
    const answers = [[PUBLIC_V6], ['127.0.0.1']]
    const turns: string[] = []
    const guarded = outboundClient({
      policy: { allowPrivate: false, allowHosts: [] },
      connectMs: 500,
      resolve: (name) => Promise.resolve(answers[turns.push(name) - 1] ?? []),
    })
    const fault = await faultOf(guarded.send({ url: url('twice.test') }))
    expect(['connection_failed', 'connect_timeout']).toContain(fault.code)
    expect(fault.message).not.toContain(PUBLIC_V6)
    expect(turns).toEqual(['twice.test'])
    expect(victim.accepted()).toBe(0)
    await guarded.close()
  })

  it('is reached where the policy allows it, by the address that was answered', async () => {
    const sandbox = outboundClient({ policy: { allowPrivate: true, allowHosts: [] }, resolve: names.resolve })
    const answer = await sandbox.send({ url: url('steady.test') })
    expect(answer.body.toString()).toBe('the inner service')
    expect(names.lookups().filter((name) => name === 'steady.test')).toHaveLength(1)
    await sandbox.close()
  })

  it('is reported as not found when it does not exist, at the call and before', async () => {
    const sent = await faultOf(client.send({ url: url('nowhere.test') }))
    const checked = await faultOf(client.checkAddress(url('nowhere.test')))
    expect([sent.code, sent.kind]).toEqual(['address_unresolvable', 'upstream'])
    expect([checked.code, checked.kind]).toEqual(['address_unresolvable', 'invalid'])
    expect(sent.message).toBe('The host nowhere.test was not found.')
  })

  it('times out when its resolver never answers', async () => {
    const policy = { allowPrivate: false, allowHosts: [] }
    const stuck = outboundClient({ policy, connectMs: 200, resolve: () => new Promise(() => undefined) })
    expect((await faultOf(stuck.send({ url: 'http://slow.test/' }))).code).toBe('connect_timeout')
    expect((await faultOf(stuck.checkAddress('http://slow.test/'))).code).toBe('address_unresolvable')
    await stuck.close()
  })
})
