import { promptBody } from '../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

describe('the marketplace without a script and without an account', () => {
  let service: TestService
  let creator: TestPerson
  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '0' })
    creator = await service.person()
  })
  afterAll(() => service.close())

  const read = async (path: string): Promise<string> => {
    const { status, text, headers } = await service.call('GET', path, { headers: { accept: 'text/html' } })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    return text
  }
  const about = (text: string): unknown =>
    JSON.parse(/<script type="application\/ld\+json" nonce="[^"]+">(.*?)<\/script>/.exec(text)?.[1] ?? 'null')
  const publish = async (changes: Record<string, unknown>): Promise<string> => {
    const { rda } = (await creator.call('POST', '/v1/rda', { body: promptBody(changes) })).body
    expect((await creator.call('POST', `/v1/rda/${String(rda.slug)}/publish`)).status).toBe(200)
    return String(rda.slug)
  }
  const canonical = (text: string): string => /<link rel="canonical" href="([^"]+)">/.exec(text)?.[1] ?? ''

  test('an asset has a title, a description, one address, structured data, and its own example', async () => {
    const example = { title: 'A short one', inputs: { article: 'A coin.' }, output: 'It is about a coin.' }
    const slug = await publish({
      name: 'Sums <b>up</b>',
      description: 'In "one" sentence',
      longDescription: 'Reads </script><script>alert(1)</script>',
      promptConfig: { promptTemplate: 'Only mine: {{article}}', allowedModels: ['sandbox/echo'], examples: [example] },
      inputSchema: [{ name: 'article', label: 'Article', type: 'text', required: true }],
      pricing: { model: 'per-run', amount: 0.05, currency: 'USDC' },
    })
    const text = await read(`/marketplace/${slug}`)
    expect(text).toContain('<title>Sums &#60;b&#62;up&#60;/b&#62; · Coinslot</title>')
    expect(text).toContain('<meta name="description" content="In &#34;one&#34; sentence">')
    expect(canonical(text)).toMatch(new RegExp(`/marketplace/${slug}$`))
    expect(text).toContain('0.05 USDC per run')
    expect(text).toContain('It is about a coin.')
    expect(text).not.toContain('noindex')
    expect(text).not.toContain('<script>alert')
    expect(about(text)).toMatchObject({
      '@type': 'Product',
      name: 'Sums <b>up</b>',
      offers: { price: '0.05', priceCurrency: 'USDC' },
    })
    for (const secret of ['Only mine', creator.caller.subject, creator.caller.user.email]) {
      expect(text).not.toContain(String(secret))
    }
  })

  test("an unpublished or unknown asset's page is noindex and reveals nothing", async () => {
    const { rda } = (await creator.call('POST', '/v1/rda', { body: promptBody({ name: 'Still secret' }) })).body
    for (const path of [rda.slug, 'never-made', '..%2f', 'a%22%3Eb'].map((slug) => `/marketplace/${String(slug)}`)) {
      const text = await read(path)
      expect(text).toContain('noindex')
      expect(text).toContain('<div id="root"></div>')
      expect(text).not.toContain('Still secret')
    }
    expect(await read('/settings?page=2')).toContain('noindex')
  })

  test('every page of the list can be reached by links, and no page is beyond the last', async () => {
    for (let count = 0; count < 30; count++) await publish({ name: `Number ${String(count)}` })
    service.clock.forward(60_000)
    const seen = new Set<string>()
    let next: string | undefined = '/marketplace'
    let pages = 0
    while (next !== undefined && pages++ < 60) {
      const text = await read(next)
      expect(canonical(text).endsWith(next)).toBe(true)
      for (const [, slug] of text.matchAll(/<a class="link" href="[^"]*\/marketplace\/([^"]+)">/g))
        seen.add(String(slug))
      next = /rel="next" href="[^"]*(\/marketplace\?page=\d+)"/.exec(text)?.[1]
    }
    const { total } = (await service.call('GET', '/v1/rdas?limit=1')).body
    expect([pages, seen.size]).toEqual([Math.ceil(total / 24), total])
    for (const page of ['0', '-3', 'x', '1e9', '99999999999999999999']) {
      expect(canonical(await read(`/marketplace?page=${page}`))).toMatch(/\/marketplace(\?page=50)?$/)
    }
  })

  test('a page is cached for ten seconds, after which a withdrawn asset is gone', async () => {
    const slug = await publish({ name: 'Soon gone' })
    expect(await read(`/marketplace/${slug}`)).toContain('Soon gone')
    await creator.call('POST', `/v1/rda/${slug}/unpublish`)
    service.clock.forward(9_000)
    expect(await read(`/marketplace/${slug}`)).toContain('Soon gone')
    service.clock.forward(1_000)
    expect(await read(`/marketplace/${slug}`)).not.toContain('Soon gone')
  })
})

describe('the open pages of the marketplace', () => {
  test('have the limit of an address, and the pages behind the sign-in do not count', async () => {
    const service = await testService({ RATE_API_PER_MINUTE: '3' })
    const read = (path: string, from: string) =>
      service.call('GET', path, { headers: { accept: 'text/html', 'x-forwarded-for': from } })
    const paths = ['/marketplace', '/marketplace?page=2', '/marketplace/never-made', '/marketplace']
    const answers: Awaited<ReturnType<typeof read>>[] = []
    for (const path of paths) answers.push(await read(path, '203.0.113.7'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(answers[0]!.headers.get('ratelimit-remaining')).toBe('2')
    expect(answers[3]!.body).toMatchObject({ code: 'rate_limited' })
    expect(Number(answers[3]!.headers.get('retry-after'))).toBeGreaterThan(0)
    for (const path of ['/sign-in', '/payments', '/sign-in', '/payments', '/sign-in']) {
      const { status, headers } = await read(path, '203.0.113.7')
      expect([path, status, headers.get('ratelimit-limit')]).toEqual([path, 200, null])
    }
    await service.close()
  })
})
