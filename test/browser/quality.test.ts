import { LANGUAGES } from '../../service/kit/language.ts'
import { LANGUAGES as WORDS } from '../../service/pages/browser/words/languages.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, shiftsOf, type Shop } from './shop.ts'

const KINDS = ['text', 'textarea', 'number', 'boolean', 'select', 'url', 'email', 'date', 'json', 'file']
const EVERY_KIND = KINDS.map((type) => ({
  name: `a_${type}`,
  label: `A ${type}`,
  type,
  required: type !== 'text',
  description: `What a ${type} is for`,
  ...(type === 'select' ? { options: ['Small', 'Large'] } : {}),
}))

inBrowser('the page itself', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  it.each([
    ['light', 360],
    ['dark', 360],
    ['light', 768],
    ['dark', 1280],
  ] as const)('has no accessibility barriers in %s mode at %i px, at every step', async (colorScheme, width) => {
    const { page, picture } = await shop.visit(await shop.sell({ fields: EVERY_KIND }), {
      colorScheme,
      viewport: { width, height: 800 },
    })
    const look = async (step: string): Promise<void> => {
      await picture(`${colorScheme}-${width}-${step}`)
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor()
    await look('form')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.locator('.fault').first().waitFor()
    await look('errors')
    await page.getByLabel('A textarea').fill('lines')
    await page.getByLabel('A number').fill('12.5')
    await page.getByLabel('A boolean').check()
    await page.getByLabel('A select').selectOption('Large')
    await page.getByLabel('A url').fill('https://example.com')
    await page.getByLabel('A email').fill('ada@example.com')
    await page.getByLabel('A date').fill('2030-01-31')
    await page.locator('.upload-choice .link').click()
    await page.locator('[name=a_file]').fill('https://example.com/a.pdf')
    await page.getByLabel('A json').fill('{"a": [1]}')
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Order started').waitFor()
    await look('paid')
    const input = JSON.parse(shop.receiver.calls.at(-1)!.body).input
    expect(input).toEqual({
      a_textarea: 'lines',
      a_number: 12.5,
      a_boolean: true,
      a_select: 'Large',
      a_url: 'https://example.com',
      a_email: 'ada@example.com',
      a_date: '2030-01-31',
      a_json: { a: [1] },
      a_file: 'https://example.com/a.pdf',
    })
  })

  it.each(LANGUAGES)('is translated to %s at every step, and fits a narrow phone', async (language) => {
    const texts = WORDS[language]
    const textOf = (key: 'terms.network' | 'progress.stepStarted' | 'form.linkExpired' | 'message.noLink'): string =>
      texts[key]
    const sale = await shop.sell({ fields: EVERY_KIND, network: 'base-sepolia' })
    const shown = await shop.visit(sale, {
      locale: language,
      colorScheme: language === 'de' ? 'dark' : 'light',
      viewport: { width: 360, height: 800 },
    })
    const { page, picture } = shown
    const look = async (step: string): Promise<void> => {
      await picture(`language-${language}-${step}`)
      expect(await page.evaluate('document.documentElement.lang')).toBe(language)
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.evaluate<string>('document.body.innerText')).not.toMatch(/\{\w+\}|undefined/)
    }
    const pay = page.locator('button[type=submit]').first()
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor()
    expect(await page.locator('dt').first().textContent()).toBe(textOf('terms.network'))
    await look('form')
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.locator('.worth').waitFor()
    await pay.click()
    await page.locator('.fault').first().waitFor()
    await look('errors')
    await page.getByLabel('A textarea').fill('lines')
    await page.getByLabel('A number').fill('12.5')
    await page.getByLabel('A select').selectOption('Large')
    await page.getByLabel('A url').fill('https://example.com')
    await page.getByLabel('A email').fill('ada@example.com')
    await page.getByLabel('A date').fill('2030-01-31')
    await page.locator('.upload-choice .link').click()
    await page.locator('[name=a_file]').fill('https://example.com/a.pdf')
    await page.getByLabel('A json').fill('{}')
    await pay.click()
    await page.locator('.steps').getByText(textOf('progress.stepStarted')).waitFor()
    await look('paid')
    expect(await shiftsOf(page)).toBeLessThan(0.02)
    await page.goto(`${shop.service.origin}/p/chk_none`)
    expect(await page.getByRole('heading').textContent()).toBe(textOf('message.noLink'))
    await look('missing')
  })

  it.each(['light', 'dark'] as const)(
    'shows the seller in readable colours of its brand, in %s',
    async (colorScheme) => {
      const brand = {
        name: 'Rechtsschutzversicherungsgesellschaft Großmann',
        accent: '#ffd400',
        supportEmail: 'help@ada.example',
        imprintUrl: 'https://ada.example/imprint',
        termsUrl: 'https://ada.example/terms',
        privacyUrl: 'https://ada.example/privacy',
      }
      expect((await shop.person.call('PATCH', '/v1/brand', { body: brand })).status).toBe(200)
      const { page, picture } = await shop.visit(await shop.sell({ fields: EVERY_KIND.slice(0, 2) }), {
        colorScheme,
        locale: 'de',
        viewport: { width: 360, height: 800 },
      })
      await page.getByRole('button', { name: 'Test Wallet' }).click()
      const pay = page.locator('button[type=submit]')
      await pay.waitFor()
      await picture(`brand-${colorScheme}`)
      expect(
        await page.evaluate('getComputedStyle(document.querySelector("button[type=submit]")).backgroundColor'),
      ).toBe('rgb(255, 212, 0)')
      expect(await page.title()).toBe(`SEO audit · ${brand.name}`)
      expect(await page.locator('.seller').textContent()).toBe(brand.name)
      expect(await page.getByRole('link', { name: 'Impressum' }).getAttribute('href')).toBe(brand.imprintUrl)
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await shiftsOf(page)).toBeLessThan(0.02)
      await shop.person.call('PATCH', '/v1/brand', {
        body: { name: null, accent: null, supportEmail: null, imprintUrl: null, termsUrl: null, privacyUrl: null },
      })
    },
  )

  it("uses the language of the address before the browser's, and keeps it through the payment", async () => {
    const sale = await shop.sell({ fields: [], testMode: true })
    const { page } = await shop.visit({ id: `${sale.id}?lang=ja` }, { locale: 'fr', wallet: false })
    await page.getByRole('button', { name: WORDS.ja['pay.simulate'] }).click()
    await page.getByText(WORDS.ja['progress.receipt'], { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('lang')).toBe('ja')
    await page.reload()
    await page.getByText(WORDS.ja['progress.receipt'], { exact: true }).waitFor()
    const answer = await shop.service.call('GET', `/p/${sale.id}`, { headers: { accept: 'text/html' } })
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Language')
  })

  it('has no accessibility barriers where it shows a message instead of a form', async () => {
    const sale = await shop.sell({ testMode: true, fields: [] })
    const { page } = await shop.visit(sale, { wallet: false })
    expect(await barriers(page)).toEqual([])
    await page.goto(`${shop.service.origin}/p/chk_none`)
    expect(await barriers(page)).toEqual([])
  })

  it.each([
    [360, 1],
    [360, 8],
    [1280, 1],
  ])('shifts no content, at %i px, on a device %i times as slow', async (width, rate) => {
    const { page, wallet } = await shop.visit(await shop.sell({ fields: EVERY_KIND.slice(0, 2) }), {
      viewport: { width, height: 800 },
      prepare: async (page, context) => {
        await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate })
      },
    })
    // Browsers ignore layout shifts within half a second of a click; here each response takes longer.
    const slowly = async (method: string, button: string): Promise<void> => {
      const release = wallet.holds(method)
      await page.getByRole('button', { name: button }).click()
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 600))')
      release()
    }
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor()
    await page.getByLabel('A textarea').fill('lines')
    await slowly('eth_call', 'Test Wallet')
    await page.getByText('20.00 USDC').waitFor()
    await slowly('eth_signTypedData_v4', 'Pay 5.00 USDC')
    await page.getByText('Order started').waitFor()
    expect(await shiftsOf(page)).toBeLessThan(0.02)
  })

  it('animates nothing where reduced motion is preferred', async () => {
    const { page } = await shop.visit(await shop.sell(), { reducedMotion: 'reduce', wallet: false })
    await page.getByText('There is no wallet').waitFor()
    const moving = `[...document.querySelectorAll('*')].filter((each) => getComputedStyle(each).animationName === 'turn' || getComputedStyle(each).transitionDuration !== '0s').length`
    expect(await page.evaluate(moving)).toBe(0)
  })

  it('shows HTML in any text as plain text', async () => {
    const evil = `</script><script>window.broken = 1</script><img src=x onerror="window.broken = 1">"'&`
    const sale = await shop.sell({
      product: { name: `N ${evil}`, description: `D ${evil}` },
      fields: [
        {
          name: 'one',
          label: `L ${evil}`,
          type: 'text',
          placeholder: `P ${evil}`,
          description: `H ${evil}`,
          default: `V ${evil}`,
        },
        { name: 'two', label: 'Two', type: 'select', options: [`O ${evil}`] },
      ],
    })
    const { page } = await shop.visit(sale)
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`N ${evil}`)
    expect(await page.locator('.description').textContent()).toBe(`D ${evil}`)
    expect(await page.locator('label').first().textContent()).toBe(`L ${evil}Optional`)
    expect(await page.locator('.hint').textContent()).toBe(`H ${evil}`)
    expect(await page.locator('#field-one').getAttribute('placeholder')).toBe(`P ${evil}`)
    expect(await page.locator('#field-one').inputValue()).toBe(`V ${evil}`)
    expect(await page.locator('option').last().textContent()).toBe(`O ${evil}`)
    expect(await page.locator('img[src=x]').count()).toBe(0)
    expect(await page.evaluate('window.broken')).toBeUndefined()
  })

  it('cannot be framed, and sends requests to its own service only', async () => {
    const sale = await shop.sell()
    const answer = await shop.service.call('GET', `/p/${sale.id}`, { headers: { accept: 'text/html' } })
    const policy = answer.headers.get('content-security-policy')!.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    )
    expect(policy.join()).not.toContain('unsafe')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(shop.problems()).toEqual([])
  })

  it('loads less than 36 KB of script (90 KB unpacked), which browsers cache for ever', async () => {
    const sale = await shop.sell()
    const html = (await shop.service.call('GET', `/p/${sale.id}`, { headers: { accept: 'text/html' } })).text
    const assets = [...html.matchAll(/(?:src|href)="(\/p\/assets\/[^"]+)"/g)].map(([, path]) => path!)
    expect(assets.map((path) => path.replace(/^.*\./, '')).sort()).toEqual(['css', 'js'])
    for (const path of assets) {
      const { status, headers } = await fetch(shop.service.origin + path, { headers: { 'accept-encoding': 'gzip' } })
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('content-encoding')).toBe('gzip')
      expect(Number(headers.get('content-length'))).toBeLessThan(36_000)
      const plain = await fetch(shop.service.origin + path, { headers: { 'accept-encoding': 'identity' } })
      expect((await plain.arrayBuffer()).byteLength).toBeLessThan(90_000)
    }
    const missing = await fetch(`${shop.service.origin}/p/assets/main-none.js`)
    expect(missing.status).toBe(404)
  })
})
