import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { proofOf } from './proof.ts'
import { startIssuer, type IssuerServer } from './issuer-server.ts'
import { callerOf, confirmBy, DASHBOARD, get, openWorld, post, type World } from './world.ts'

const PASSWORD = 'correct horse battery'

describe('a person whom the identity provider signs in', () => {
  let world: World
  let server: IssuerServer
  beforeAll(async () => {
    server = await startIssuer()
    const client = { id: 'coinslot', secret: null }
    const fetchDocument = async (url: string) => {
      const answer = await fetch(url)
      return { status: answer.status, text: await answer.text() }
    }
    world = await openWorld({
      live: true,
      confirmsFirst: true,
      provider: { issuer: server.url, client, fetchDocument },
    })
  })
  afterAll(async () => {
    await world.close()
    await server.close()
  })

  async function signIn(sub: string, email: string, isConfirmed = true): Promise<Visit> {
    const started = await post(world, '/oidc/start')
    const { searchParams } = new URL(started.body['url'] as string)
    const token = await server.sign({ sub, email, email_verified: isConfirmed, nonce: searchParams.get('nonce') })
    const body = JSON.stringify({ id_token: token, access_token: 'unused' })
    server.broken.set('/token', { status: 200, body })
    const path = `oidc/callback?code=any&state=${searchParams.get('state')!}`
    const { headers } = await get(world, path, { cookie: cookiesOf(started.headers) })
    const fault = new URL(headers.get('location')!).searchParams.get('fault')
    return { fault, headers: { cookie: cookiesOf(headers), origin: DASHBOARD } }
  }

  const emailOf = async ({ headers }: Visit) => (await get(world, 'email', headers)).body
  const userOf = async ({ headers: { cookie } }: Visit) => {
    const seen = { authorization: undefined, cookie, environmentHeader: undefined, now: world.clock.now() }
    return (await world.identity.identify(seen)).user!
  }
  const mailsTo = (email: string) => world.mails.filter(({ to }) => to === email)

  /** How many mails an order for a new password brings to this address. */
  async function resetsTo(email: string): Promise<number> {
    await world.deliver()
    const before = mailsTo(email).length
    expect((await post(world, '/request-password-reset', { email })).status).toBe(200)
    await world.deliver()
    return mailsTo(email).length - before
  }

  it('has the address that it confirms now, and the reader of the previous one gets no way in', async () => {
    const first = await signIn('ada', 'ada@before.example')
    const { id } = await userOf(first)
    const second = await signIn('ada', 'Ada@After.example')
    expect(await emailOf(second)).toMatchObject({ email: 'ada@after.example', confirmed: true, changeable: false })
    expect(await userOf(second)).toMatchObject({ id, email: 'ada@after.example', emailConfirmed: true })
    expect(await resetsTo('ada@before.example')).toBe(0)
    expect(await resetsTo('ada@after.example')).toBe(1)
    const [notice] = mailsTo('ada@before.example')
    expect(notice?.subject).toBe('The e-mail address of your Coinslot account was changed')
  })

  it('gets an address once the provider confirms one, and keeps it where it confirms none', async () => {
    const first = await signIn('ben', 'ben@example.com', false)
    expect(await emailOf(first)).toMatchObject({ email: null, confirmed: false })
    const second = await signIn('ben', 'ben@example.com')
    expect(await emailOf(second)).toMatchObject({ email: 'ben@example.com', confirmed: true })
    const third = await signIn('ben', 'other@example.com', false)
    expect(await emailOf(third)).toMatchObject({ email: 'ben@example.com', confirmed: true })
  })

  it('may enter an address as long as it has none', async () => {
    const visit = await signIn('cleo', 'cleo@example.com', false)
    expect(await emailOf(visit)).toMatchObject({ email: null, changeable: true })
    const change = (email: string) => post(world, '/email/change', { email }, visit.headers)
    expect((await change('cleo@own.example')).status).toBe(200)
    await world.deliver()
    const token = new URL(linkIn(mailsTo('cleo@own.example')[0]!)).searchParams.get('token')
    expect((await post(world, '/email/confirm', { token }, visit.headers)).status).toBe(200)
    expect(await emailOf(visit)).toMatchObject({ email: 'cleo@own.example', confirmed: true, changeable: false })
    expect(await change('cleo@other.example')).toMatchObject({ status: 409, body: { code: 'email_of_provider' } })
  })

  it('signs in with the previous address while another account has the new one', async () => {
    const dan = await signIn('dan', 'dan@example.com')
    const eve = await signIn('eve', 'eve@example.com')
    const again = await signIn('dan', 'eve@example.com')
    expect(await userOf(again)).toMatchObject({ id: (await userOf(dan)).id, email: 'dan@example.com' })
    expect(await userOf(eve)).toMatchObject({ email: 'eve@example.com' })
  })

  it('gets a mail that makes the account theirs, where a stranger signed up with the address', async () => {
    const stranger = { email: 'gus@example.com', password: 'the password of a stranger', name: 'Stranger' }
    await post(world, '/sign-up/email', stranger)
    await world.deliver()
    const { fault } = await signIn('gus', 'gus@example.com')
    expect(fault).toBe('account_address_unconfirmed')
    await world.deliver()
    const link = new URL(linkIn(mailsTo('gus@example.com').at(-1)!))
    expect(link.pathname).toBe('/reset-password')
    expect((await post(world, '/sign-in/email', stranger)).status).toBe(401)
    const token = link.searchParams.get('token')
    expect((await post(world, '/reset-password', { token, newPassword: PASSWORD })).status).toBe(200)
    const visit = await signIn('gus', 'gus@example.com')
    expect(visit.fault).toBeNull()
    expect(await userOf(visit)).toMatchObject({ email: 'gus@example.com', emailConfirmed: true })
    expect((await post(world, '/sign-in/email', stranger)).status).toBe(401)
  })

  it('keeps the address of an account that it joined', async () => {
    await post(world, '/sign-up/email', { email: 'fay@example.com', password: PASSWORD, name: 'Fay' })
    await world.deliver()
    expect((await confirmBy(world, mailsTo('fay@example.com')[0]!, PASSWORD)).status).toBe(200)
    await signIn('fay', 'fay@example.com')
    expect(await emailOf(await signIn('fay', 'fay@elsewhere.example'))).toMatchObject({ email: 'fay@example.com' })
    const { body } = await post(world, '/sign-in/email', { email: 'fay@example.com', password: PASSWORD })
    expect((await callerOf(world, body['token'] as string)).user).toMatchObject({ email: 'fay@example.com' })
  })

  it('removes a lost wallet by a new sign-in, and not by a session that is older than 15 minutes', async () => {
    const { headers } = await signIn('hal', 'hal@example.com')
    const lost = privateKeyToAccount(generatePrivateKey())
    const link = async () => (await post(world, '/siwe/link', await proofOf(world, lost), headers)).status
    const remove = () => post(world, '/siwe/unlink', { address: lost.address }, headers)
    expect((await get(world, 'email', headers)).body).toMatchObject({ hasPassword: false, byProvider: true })
    expect([await link(), (await remove()).status, await link()]).toEqual([200, 200, 200])
    world.clock.forward(16 * 60_000)
    const refused = await remove()
    expect([refused.status, refused.body['code']]).toEqual([403, 'wallet_proof_required'])
    expect(refused.body['error']).toContain('sign in with your identity provider')
  })
})

interface Visit {
  /** Why the sign-in was refused. */
  fault: string | null
  headers: { cookie: string; origin: string }
}

function cookiesOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0]!)
    .join('; ')
}

function linkIn({ text }: { text: string }): string {
  return /http\S+/.exec(text)![0]
}
