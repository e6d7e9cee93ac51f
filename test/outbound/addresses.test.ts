import { refusal } from '../../service/outbound/addresses.ts'
import { outboundClient } from '../../service/outbound/client.ts'
import type { Policy } from '../../service/outbound/model.ts'
import { faultOf } from './fault.ts'

const PRODUCTION: Policy = { allowPrivate: false, allowHosts: [] }
const SANDBOX: Policy = { allowPrivate: true, allowHosts: [] }

const LITERALS: readonly (readonly [name: string, url: string])[] = [
  ['loopback', 'http://127.0.0.1/'],
  ['loopback on a port', 'http://127.0.0.1:6379/'],
  ['loopback beyond .1', 'http://127.255.255.254/'],
  ['loopback, https', 'https://127.0.0.1/'],
  ['loopback, scheme in capitals', 'HTTP://127.0.0.1/'],
  ['loopback, two parts', 'http://127.1/'],
  ['loopback, three parts', 'http://127.0.1/'],
  ['loopback, trailing dot', 'http://127.0.0.1./'],
  ['loopback, decimal', 'http://2130706433/'],
  ['loopback, decimal with trailing dot', 'http://2130706433./'],
  ['loopback, hexadecimal', 'http://0x7f000001/'],
  ['loopback, hexadecimal in capitals', 'http://0X7F000001/'],
  ['loopback, hexadecimal parts', 'http://0x7f.0x0.0x0.0x1/'],
  ['loopback, octal', 'http://017700000001/'],
  ['loopback, octal parts', 'http://0177.0.0.01/'],
  ['loopback, octal with many zeros', 'http://0000000177.0.0.1/'],
  ['loopback, mixed bases', 'http://0x7f.0.1/'],
  ['loopback, percent-encoded', 'http://%31%32%37.0.0.1/'],
  ['loopback, circled digits', 'http://①②⑦.⓪.⓪.①/'],
  ['loopback, fullwidth digits and dots', 'http://１２７。０。０。１/'],
  ['loopback, tab and newline inside', 'http://127.\t0.\n0.1/'],
  ['loopback, backslashes', 'http:\\\\127.0.0.1\\'],
  ['loopback, no slashes', 'http:127.0.0.1'],
  ['loopback, many slashes', 'http:////127.0.0.1/'],
  ['loopback, empty credentials', 'http://@127.0.0.1/'],
  ['unspecified', 'http://0.0.0.0/'],
  ['unspecified, short', 'http://0/'],
  ['this network', 'http://0.1.2.3/'],
  ['private 10/8', 'http://10.0.0.1/'],
  ['private 10/8, decimal', 'http://167772161/'],
  ['private 172.16/12, first', 'http://172.16.0.1/'],
  ['private 172.16/12, last', 'http://172.31.255.255/'],
  ['private 192.168/16', 'http://192.168.1.1/'],
  ['carrier-grade NAT, first', 'http://100.64.0.1/'],
  ['carrier-grade NAT, last', 'http://100.127.255.254/'],
  ['link-local', 'http://169.254.1.1/'],
  ['metadata', 'http://169.254.169.254/latest/meta-data/'],
  ['metadata, decimal', 'http://2852039166/'],
  ['metadata, hexadecimal', 'http://0xa9fea9fe/'],
  ['metadata, octal parts', 'http://0251.0376.0251.0376/'],
  ['metadata, container credentials', 'http://169.254.170.2/v2/credentials'],
  ['metadata, Alibaba', 'http://100.100.100.200/'],
  ['metadata, Azure wire server', 'http://168.63.129.16/'],
  ['metadata, Oracle', 'http://192.0.0.192/'],
  ['protocol assignments', 'http://192.0.0.8/'],
  ['documentation 1', 'http://192.0.2.1/'],
  ['documentation 2', 'http://198.51.100.1/'],
  ['documentation 3', 'http://203.0.113.1/'],
  ['benchmarks', 'http://198.18.0.1/'],
  ['benchmarks, last', 'http://198.19.255.255/'],
  ['6to4 relays', 'http://192.88.99.1/'],
  ['AS112', 'http://192.175.48.1/'],
  ['AMT', 'http://192.52.193.1/'],
  ['multicast', 'http://224.0.0.1/'],
  ['multicast, last', 'http://239.255.255.255/'],
  ['reserved', 'http://240.0.0.1/'],
  ['broadcast', 'http://255.255.255.255/'],
  ['IPv6 loopback', 'http://[::1]/'],
  ['IPv6 loopback, written out', 'http://[0:0:0:0:0:0:0:1]/'],
  ['IPv6 loopback, leading zeros', 'http://[0000::0001]:8080/'],
  ['IPv6 unspecified', 'http://[::]/'],
  ['IPv4-mapped loopback', 'http://[::ffff:127.0.0.1]/'],
  ['IPv4-mapped loopback, hexadecimal', 'http://[::ffff:7f00:1]/'],
  ['IPv4-mapped metadata', 'http://[::ffff:169.254.169.254]/'],
  ['IPv4-mapped public', 'http://[::ffff:1.1.1.1]/'],
  ['IPv4-compatible loopback', 'http://[::127.0.0.1]/'],
  ['IPv4-compatible metadata', 'http://[::a9fe:a9fe]/'],
  ['IPv4-translated', 'http://[::ffff:0:127.0.0.1]/'],
  ['NAT64 of loopback', 'http://[64:ff9b::127.0.0.1]/'],
  ['NAT64 of metadata', 'http://[64:ff9b::a9fe:a9fe]/'],
  ['NAT64, local prefix', 'http://[64:ff9b:1::a00:1]/'],
  ['6to4 of loopback', 'http://[2002:7f00:1::]/'],
  ['6to4 of 10/8', 'http://[2002:a00:1::1]/'],
  ['Teredo', 'http://[2001:0:53aa:64c:0:0:80ff:fffe]/'],
  ['IPv6 benchmarks', 'http://[2001:2::1]/'],
  ['ORCHID', 'http://[2001:10::1]/'],
  ['ORCHIDv2', 'http://[2001:20::1]/'],
  ['IPv6 documentation', 'http://[2001:db8::1]/'],
  ['IPv6 documentation, newer', 'http://[3fff::1]/'],
  ['segment routing', 'http://[5f00::1]/'],
  ['unique local fc', 'http://[fc00::1]/'],
  ['unique local fd', 'http://[fd12:3456:789a::1]/'],
  ['IPv6 link-local', 'http://[fe80::1]/'],
  ['IPv6 link-local, last', 'http://[febf:ffff::1]/'],
  ['site-local', 'http://[fec0::1]/'],
  ['IPv6 multicast', 'http://[ff02::1]/'],
  ['discard only', 'http://[100::1]/'],
  ['never allocated', 'http://[4000::1]/'],
  ['IPv6 metadata, Amazon', 'http://[fd00:ec2::254]/'],
  ['IPv6 metadata, Google', 'http://[fd20:ce::254]/'],
  ['IPv6 with a zone', 'http://[fe80::1%25eth0]/'],
]

const MALFORMED: readonly (readonly [name: string, url: string])[] = [
  ['nothing', ''],
  ['no scheme', '127.0.0.1'],
  ['no host', 'http://'],
  ['five parts', 'http://1.2.3.4.5/'],
  ['part too large', 'http://127.0.0.256/'],
  ['number too large', 'http://4294967296/'],
  ['two addresses in one', 'http://1.1.1.1:80@127.0.0.1:80#@1.1.1.1/'],
  ['port too large', 'http://example.com:65536/'],
  ['host with a space', 'http://exam ple.com/'],
  ['host with an encoded NUL', 'http://example.com%00.evil.test/'],
  ['broken brackets', 'http://[::1'],
  ['user', 'http://user@example.com/'],
  ['user and password', 'https://user:password@example.com/'],
  ['password alone', 'https://:password@example.com/'],
  ['public host as the user', 'http://example.com@127.0.0.1/'],
  ['public host as the user, encoded', 'http://example.com%2f@127.0.0.1/'],
  ['file', 'file:///etc/passwd'],
  ['file with host', 'file://127.0.0.1/etc/passwd'],
  ['gopher', 'gopher://127.0.0.1:6379/_INFO'],
  ['ftp', 'ftp://127.0.0.1/'],
  ['data', 'data:text/plain,hello'],
  ['dict', 'dict://127.0.0.1:11211/stat'],
  ['ldap', 'ldap://127.0.0.1/'],
  ['javascript', 'javascript:fetch("http://127.0.0.1")'],
  ['blob', 'blob:http://127.0.0.1/1'],
  ['websocket', 'ws://127.0.0.1/'],
  ['unix socket', 'unix:/var/run/docker.sock'],
  ['http over a unix socket', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/'],
]

describe('an address that is written in the URL', () => {
  const lookups: string[] = []
  const client = outboundClient({
    policy: PRODUCTION,
    resolve: (hostname) => {
      lookups.push(hostname)
      return Promise.resolve(['127.0.0.1'])
    },
  })
  afterAll(() => client.close())

  it.each([...LITERALS, ...MALFORMED])('is refused without asking a resolver: %s', async (_name, url) => {
    const sent = await faultOf(client.send({ url }))
    const checked = await faultOf(client.checkAddress(url))
    expect([sent.code, sent.kind]).toEqual(['address_refused', 'invalid'])
    expect(checked.message).toBe(sent.message)
    expect(sent.message).toMatch(/ cannot be called: .+\.$/)
    expect(sent.message).not.toMatch(/password|ECONN|undici/)
    expect(lookups).toEqual([])
  })
})

describe('an address that a resolver gives', () => {
  const addresses = [
    ...new Set(LITERALS.flatMap(([, url]) => (URL.canParse(url) ? [new URL(url).hostname.replace(/[[\]]/g, '')] : []))),
    'fe80::1%eth0',
    'not-an-address',
    '',
  ]

  it.each(addresses)('is refused, and stays unnamed: %s', async (address) => {
    const client = outboundClient({ policy: PRODUCTION, resolve: () => Promise.resolve([address]) })
    const fault = await faultOf(client.send({ url: 'http://innocent.test/' }))
    expect(fault.code).toBe('address_refused')
    expect(fault.message).toBe(
      'innocent.test cannot be called: it is not at a public address; the operator of this server can allow a private one with ALLOW_HOSTS.',
    )
    expect(JSON.stringify(fault.fields)).toBe('{}')
    await client.close()
  })

  it('is refused for its company: one private address among public ones', async () => {
    const client = outboundClient({ policy: PRODUCTION, resolve: () => Promise.resolve(['1.1.1.1', '10.0.0.1']) })
    expect((await faultOf(client.send({ url: 'http://innocent.test/' }))).code).toBe('address_refused')
    expect((await faultOf(client.checkAddress('http://innocent.test/'))).code).toBe('address_refused')
    await client.close()
  })

  it.each(['localhost', 'localhost.', 'LOCALHOST'])('is refused when the system resolves %s', async (host) => {
    const client = outboundClient({ policy: PRODUCTION })
    expect((await faultOf(client.send({ url: `http://${host}:1/` }))).code).toMatch(/^address_(refused|unresolvable)$/)
    await client.close()
  })
})

describe('the addresses that a policy allows', () => {
  const reachable = ['127.0.0.1', '127.8.8.8', '::1', '10.1.2.3', '172.20.0.1', '192.168.0.1', 'fd12::1', 'fc00::1']
  const never = [
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:42::42',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '0.0.0.0',
    '::',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    'fec0::1',
    'ff02::1',
  ]
  const open = [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
  ]
  const open6 = ['2606:4700:4700::1111', '2a00:1450:4001:82a::200e', '2400:cb00::1']

  it.each(reachable)('private addresses when it says so: %s', (address) => {
    expect(refusal(address, true)).toBeNull()
    expect(refusal(address, false)).not.toBeNull()
  })

  it.each(never)('never includes %s', (address) => {
    expect(refusal(address, true)).not.toBeNull()
    expect(refusal(address, false)).not.toBeNull()
  })

  it.each([...open, ...open6])('public addresses always: %s', (address) => {
    expect(refusal(address, false)).toBeNull()
    expect(refusal(address, true)).toBeNull()
  })

  it.each(['http://169.254.169.254/', 'http://[fe80::1]/', 'http://[fd00:ec2::254]/', 'http://100.100.100.200/'])(
    'never these as a URL either: %s',
    async (url) => {
      const host = new URL(url).hostname
      for (const policy of [SANDBOX, { allowPrivate: true, allowHosts: [host, `${host}:80`] }]) {
        const client = outboundClient({ policy })
        expect((await faultOf(client.checkAddress(url))).code).toBe('address_refused')
        expect((await faultOf(client.send({ url }))).code).toBe('address_refused')
        await client.close()
      }
    },
  )

  it.each([
    ['a name on any port', ['demo.test'], 'http://demo.test:9/', true],
    ['a name in capitals with a dot', ['Demo.Test.'], 'https://demo.test/', true],
    ['a name and a port', ['demo.test:4021'], 'http://demo.test:4021/', true],
    ['a name with its dot in the URL', ['demo.test:4021'], 'http://demo.test.:4021/', true],
    ['the default port of http', ['demo.test:80'], 'http://demo.test/', true],
    ['the default port of https', ['demo.test:443'], 'https://demo.test/', true],
    ['an IPv4 address', ['127.0.0.1:4021'], 'http://127.0.0.1:4021/', true],
    ['an IPv6 address', ['::1'], 'http://[::1]:4021/', true],
    ['an IPv6 address and a port', ['[::1]:4021'], 'http://[::1]:4021/', true],
    ['not another port', ['demo.test:4021'], 'http://demo.test:4022/', false],
    ['not another name', ['demo.test'], 'http://other.test/', false],
    ['not a subdomain', ['demo.test'], 'http://a.demo.test/', false],
    ['not a longer name', ['demo.test'], 'http://demo.test.evil.test/', false],
    ['not an address whose end looks like a port', ['[::1]:4021'], 'http://[::1:4021]/', false],
  ])('hosts by name: %s', async (_name, allowHosts, url, allowed) => {
    const policy = { allowPrivate: false, allowHosts }
    const client = outboundClient({ policy, resolve: () => Promise.resolve(['127.0.0.1']) })
    if (allowed) await client.checkAddress(url)
    else expect((await faultOf(client.checkAddress(url))).code).toBe('address_refused')
    await client.close()
  })

  it.each(['', 'http://demo.test', 'demo.test:port', 'demo.test:1:2', 'user@demo.test', 'demo test'])(
    'and a host that is none stops the start: %p',
    (entry) => {
      expect(() => outboundClient({ policy: { allowPrivate: false, allowHosts: [entry] } })).toThrow(/is not a host/)
    },
  )
})
