import { colorsOf, contrast, noteOf } from '../../service/brands/rules.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { png } from '../files/pictures.ts'

describe('the colours of an accent', () => {
  const SHADES = ['00', '33', '80', 'cc', 'ff']
  const every = SHADES.flatMap((red) => SHADES.flatMap((green) => SHADES.map((blue) => `#${red}${green}${blue}`)))

  test.each(every)('keep %s readable, with every text on it and in it', (accent) => {
    const { light, dark } = colorsOf(accent)
    for (const { fill, onFill, fillDeep } of [light, dark]) {
      expect(fill).toBe(accent)
      expect(contrast(fill, onFill)).toBeGreaterThanOrEqual(4.5)
      expect(contrast(fillDeep, onFill)).toBeGreaterThanOrEqual(4.5)
    }
    for (const ground of ['#ffffff', '#f1f3f7']) expect(contrast(light.accent, ground)).toBeGreaterThanOrEqual(4.5)
    for (const ground of ['#10131b', '#1b2030']) expect(contrast(dark.accent, ground)).toBeGreaterThanOrEqual(4.5)
  })

  test('names the colours that were adjusted', () => {
    expect(noteOf('#ffd400')).toMatch(
      /^Links in #ffd400 could not be read everywhere, so they are #\w{6} on light pages\./,
    )
  })
})

describe('a brand', () => {
  let service: TestService
  let seller: TestPerson
  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '0' })
    seller = await service.person()
  })
  afterAll(() => service.close())

  const patch = (body: object, person = seller) => person.call('PATCH', '/v1/brand', { body })
  const logoOf = async (person: TestPerson): Promise<string> => {
    const query = '?name=logo.png&purpose=picture'
    const { body } = await service.call('POST', `/v1/files${query}`, { key: person.key, raw: png(40, 20) })
    return String(body.file.id)
  }
  const shown = async (): Promise<{ id: string; brand: Record<string, unknown> | null }> => {
    const { body } = await seller.call('POST', '/v1/checkouts', {
      body: {
        after: { kind: 'text', text: 'Thanks' },
        product: { name: 'Audit' },
        price: 1,
        network: 'base-sepolia',
        testMode: true,
        fields: [],
      },
    })
    const { id } = body.checkout
    return { id, brand: (await service.call('GET', `/p/${id}`)).body.brand }
  }

  test('is null until it is set, then shown on the page; a change updates only the fields sent', async () => {
    expect((await shown()).brand).toBeNull()
    const logo = await logoOf(seller)
    const { status, body } = await patch({
      name: 'Ada Ltd',
      logo,
      accent: '#FD0',
      termsUrl: 'https://ada.example/terms',
    })
    expect([status, body.brand]).toMatchObject([
      200,
      { name: 'Ada Ltd', logo, accent: '#ffdd00', theme: 'auto', accentNote: expect.stringContaining('#ffdd00') },
    ])
    await patch({ theme: 'dark', termsUrl: null })
    const { id, brand } = await shown()
    expect(brand).toMatchObject({
      name: 'Ada Ltd',
      theme: 'dark',
      termsUrl: null,
      logo: { url: expect.stringContaining(`/p/pictures/${logo}`), width: 40, height: 20 },
      colors: { light: { fill: '#ffdd00', onFill: '#000000' } },
    })
    const page = await service.call('GET', `/p/${id}`, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('<title>Audit · Ada Ltd</title>')
    expect(page.headers.get('content-security-policy')).toMatch(/style-src 'self' 'sha256-[\w+/=]{44}'/)
    // What a page shows stays.
    expect(await seller.call('DELETE', `/v1/files/${logo}`)).toMatchObject({ status: 409, body: { code: 'file_used' } })
    await patch({ logo: null })
    expect((await seller.call('DELETE', `/v1/files/${logo}`)).status).toBe(204)
  })

  test.each([
    [{ accent: 'red' }, 'accent'],
    [{ accent: '#12345' }, 'accent'],
    [{ accent: '#12;}body{' }, 'accent'],
    [{ imprintUrl: 'javascript:alert(1)' }, 'imprintUrl'],
    [{ supportEmail: 'nobody' }, 'supportEmail'],
    [{ logo: 'file_nothing' }, 'logo'],
    [{ name: '' }, 'name'],
    [{ theme: 'blue' }, 'theme'],
    [{ css: '*{}' }, 'css'],
  ])('%j is refused', async (body, field) => {
    const answer = await patch(body)
    expect([answer.status, Object.keys(answer.body.details as object)]).toEqual([400, [expect.stringContaining(field)]])
  })

  test("refuses another account's logo, and loses none of its concurrent changes", async () => {
    const other = await service.person()
    const theirs = await logoOf(other)
    expect(await patch({ logo: theirs })).toMatchObject({ status: 400 })
    await Promise.all([patch({ name: 'A', theme: 'light' }, other), patch({ supportEmail: 'a@b.example' }, other)])
    const { body } = await other.call('GET', '/v1/brand')
    expect(body.brand).toMatchObject({ name: 'A', theme: 'light', supportEmail: 'a@b.example' })
  })
})
