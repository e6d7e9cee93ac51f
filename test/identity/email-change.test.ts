import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { proofOf, type Proof } from './proof.ts'
import { callerOf, confirmBy, get, grantsOf, openWorld, post, type World } from './world.ts'

const PASSWORD = 'correct horse battery'
const DAY_MS = 24 * 3_600_000

describe('a new e-mail address', () => {
  let world: World
  let people = 0
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  async function signUp(confirmed = true): Promise<TestUser> {
    const email = `before${String(++people)}@example.com`
    const { body } = await post(world, '/sign-up/email', { email, password: PASSWORD, name: 'Somebody' })
    await world.deliver()
    if (confirmed) await confirm(email)
    return testUserOf(body, email)
  }

  async function confirm(email: string): Promise<void> {
    expect((await confirmBy(world, mailsTo(email)[0]!, PASSWORD)).status).toBe(200)
  }

  async function byWallet(): Promise<TestUser & { wallet: PrivateKeyAccount }> {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const { body } = await post(world, '/siwe/verify', await proofOf(world, wallet))
    return { ...testUserOf(body, ''), wallet }
  }

  const mailsTo = (email: string) => world.mails.filter(({ to }) => to === email)
  const requestChange = ({ headers }: TestUser, email: string, password: string | undefined = PASSWORD) =>
    post(world, '/email/change', { email, password }, headers)
  const follow = ({ headers }: TestUser, token: string) => post(world, '/email/confirm', { token }, headers)
  const known = async ({ headers }: TestUser) => (await get(world, 'email', headers)).body
  const signIn = async (email: string): Promise<number> =>
    (await post(world, '/sign-in/email', { email, password: PASSWORD })).status

  async function tokenFor(who: TestUser, email: string, proof?: Proof): Promise<string> {
    const asked = proof === undefined ? { password: PASSWORD } : { wallet: proof }
    const { status, body } = await post(world, '/email/change', { email, ...asked }, who.headers)
    expect([status, body]).toEqual([200, { success: true }])
    await world.deliver()
    const link = new URL(linkIn(mailsTo(email.toLowerCase()).at(-1)!))
    expect(link.origin + link.pathname).toBe('http://localhost:4020/settings/email')
    return link.searchParams.get('token')!
  }

  it('counts once its link was followed, and the old address gets a notice', async () => {
    const ann = await signUp()
    const token = await tokenFor(ann, 'Ann@New.example')
    expect(await known(ann)).toMatchObject({ email: ann.email, confirmed: true })
    expect(await signIn('ann@new.example')).toBe(401)

    expect(await follow(ann, token)).toMatchObject({ status: 200, body: { email: 'ann@new.example' } })
    expect(await known(ann)).toEqual({
      ...{ email: 'ann@new.example', confirmed: true },
      ...{ hasPassword: true, byProvider: false, changeable: true },
    })
    expect([await signIn('ann@new.example'), await signIn(ann.email)]).toEqual([200, 401])
    expect((await callerOf(world, ann.token)).user).toMatchObject({ email: 'ann@new.example', emailConfirmed: true })
    await world.deliver()
    const mail = mailsTo(ann.email).at(-1)!
    expect(mail.subject).toBe('The e-mail address of your Coinslot account was changed')
    expect(mail.text).toContain('ann@new.example')
    // A second click has the same result and sends no second mail.
    expect((await follow(ann, token)).status).toBe(200)
    const mails = world.mails.length
    await world.deliver()
    expect(world.mails).toHaveLength(mails)
  })

  it('replaces an unconfirmed one, which gets no notice, and grants the production credits', async () => {
    const ben = await signUp(false)
    expect(await grantsOf(world, ben.id)).toEqual([5, 0])
    expect((await follow(ben, await tokenFor(ben, 'ben@new.example'))).status).toBe(200)
    expect(await grantsOf(world, ben.id)).toEqual([5, 5])
    await world.deliver()
    expect(mailsTo(ben.email).map(({ subject }) => subject)).toEqual(['Confirm your e-mail address for Coinslot'])
  })

  it('becomes the first one of a wallet account, which can then set a password and keeps its wallet', async () => {
    const cleo = await byWallet()
    expect(await known(cleo)).toMatchObject({ email: null, confirmed: false, hasPassword: false, changeable: true })
    expect(
      (await follow(cleo, await tokenFor(cleo, 'cleo@new.example', await proofOf(world, cleo.wallet)))).status,
    ).toBe(200)
    expect((await get(world, 'siwe/wallets', cleo.headers)).body['wallets']).toHaveLength(1)
    await post(world, '/request-password-reset', { email: 'cleo@new.example' })
    await world.deliver()
    const token = new URL(linkIn(mailsTo('cleo@new.example').at(-1)!)).searchParams.get('token')
    expect((await post(world, '/reset-password', { token, newPassword: PASSWORD })).status).toBe(200)
    expect(await signIn('cleo@new.example')).toBe(200)
  })

  it('needs the password beside the session', async () => {
    const dan = await signUp()
    const mails = world.mails.length
    for (const password of ['not this one at all', undefined]) {
      const { status, body } = await post(world, '/email/change', { email: 'thief@new.example', password }, dan.headers)
      expect([status, body['code']]).toEqual([400, 'invalid_password'])
    }
    expect((await post(world, '/email/change', { email: 'thief@new.example', password: PASSWORD })).status).toBe(401)
    expect((await post(world, '/email/confirm', { token: 'x' })).status).toBe(401)
    expect((await get(world, 'email')).status).toBe(401)
    await world.deliver()
    expect(world.mails).toHaveLength(mails)
  })

  it('needs a fresh signature of a connected wallet where there is no password', async () => {
    const wes = await byWallet()
    const stranger = privateKeyToAccount(generatePrivateKey())
    const mails = world.mails.length
    for (const proof of [{}, { password: PASSWORD }, { wallet: await proofOf(world, stranger) }]) {
      const { status, body } = await post(world, '/email/change', { email: 'thief@new.example', ...proof }, wes.headers)
      expect([status, body['code']]).toEqual([403, 'wallet_proof_required'])
    }
    await world.deliver()
    expect(world.mails).toHaveLength(mails)
  })

  it('is refused with a code when it is unchanged or invalid', async () => {
    const eve = await signUp()
    const codes = async (email: unknown) => {
      const { status, body } = await post(world, '/email/change', { email, password: PASSWORD }, eve.headers)
      return [status, body['code']]
    }
    expect(await codes(eve.email.toUpperCase())).toEqual([400, 'email_same'])
    expect(await codes(`0x${'ab'.repeat(20)}@wallet.invalid`)).toEqual([400, 'invalid_email'])
    for (const email of ['', 'eve', `${'e'.repeat(250)}@new.example`]) {
      expect(await codes(email)).toEqual([400, 'invalid_email'])
    }
    expect(await codes(7)).toEqual([400, 'invalid_input'])
    for (const email of [null, undefined]) expect(await codes(email)).toEqual([400, 'validation_error'])
  })

  it('that belongs to another account answers alike, and its owner gets no mail', async () => {
    const [fay, gus] = [await signUp(), await signUp()]
    const mails = world.mails.length
    expect(await requestChange(fay, gus.email)).toMatchObject({ status: 200, body: { success: true } })
    await world.deliver()
    expect(world.mails).toHaveLength(mails)
  })

  it('that another account took in the meantime stays with that account', async () => {
    const hal = await signUp()
    const token = await tokenFor(hal, 'taken@new.example')
    await post(world, '/sign-up/email', { email: 'taken@new.example', password: PASSWORD, name: 'First' })
    expect(await follow(hal, token)).toMatchObject({ status: 409, body: { code: 'email_taken' } })
    expect(await known(hal)).toMatchObject({ email: hal.email })
  })

  it('that two accounts confirm concurrently belongs to one of them', async () => {
    const two = [await signUp(), await signUp()]
    const tokens = [await tokenFor(two[0]!, 'both@new.example'), await tokenFor(two[1]!, 'both@new.example')]
    const done = await Promise.all(two.map((who, place) => follow(who, tokens[place]!)))
    expect(done.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('has a link that works once, for one account, within a day', async () => {
    const [ida, jon] = [await signUp(), await signUp()]
    const first = await tokenFor(ida, 'ida1@new.example')
    expect(await follow(jon, first)).toMatchObject({ status: 403, body: { code: 'other_account' } })
    for (const token of ['', 'x', 'x.y', `${first}x`, `x${first}`, first.replace(/\..*/, '.')]) {
      expect(await follow(ida, token)).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    }
    const second = await tokenFor(ida, 'ida2@new.example')
    expect((await follow(ida, second)).status).toBe(200)
    expect(await follow(ida, first)).toMatchObject({ status: 400, body: { code: 'invalid_token' } })

    const late = await tokenFor(jon, 'jon@new.example')
    world.clock.forward(DAY_MS + 60_000)
    expect(await follow(jon, late)).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    expect(await known(jon)).toMatchObject({ email: jon.email })
  })

  it('invalidates reset links sent to the old address, and cancels mails to another pending one', async () => {
    const kim = await signUp()
    await post(world, '/request-password-reset', { email: kim.email })
    await world.deliver()
    const reset = new URL(linkIn(mailsTo(kim.email).at(-1)!)).searchParams.get('token')
    const change = await tokenFor(kim, 'kim1@new.example')
    expect((await requestChange(kim, 'kim2@new.example')).status).toBe(200)
    expect((await follow(kim, change)).status).toBe(200)
    const { status, body } = await post(world, '/reset-password', { token: reset, newPassword: 'the thief knows it' })
    expect([status, body['code']]).toEqual([400, 'invalid_token'])
    await world.deliver()
    expect(mailsTo('kim2@new.example')).toEqual([])
  })

  it("is not confirmed by a session token or another mail's link", async () => {
    const lea = await signUp()
    const verification = new URL(linkIn(mailsTo(lea.email)[0]!)).searchParams.get('token')!
    const change = await tokenFor(lea, 'lea@new.example')
    expect((await follow(lea, verification)).status).toBe(400)
    expect((await follow(lea, lea.token)).status).toBe(400)
    expect((await post(world, '/verify-email', { token: change, password: PASSWORD })).status).toBe(400)
    expect(await known(lea)).toMatchObject({ email: lea.email })
  })

  it('is requested at most five times an hour, over all sessions and addresses', async () => {
    const counts = new Map<string, number>()
    const small = await openWorld({
      mayMail: async (kind, to) => {
        const count = (counts.get(`${kind} ${to}`) ?? 0) + 1
        counts.set(`${kind} ${to}`, count)
        return count <= 5
      },
    })
    const { body } = await post(small, '/sign-up/email', { email: 'm@a.example', password: PASSWORD, name: 'M' })
    const { headers } = testUserOf(body, 'm@a.example')
    const again = () => post(small, '/email/change', { email: 'm@new.example', password: PASSWORD }, headers)
    for (let nth = 0; nth < 5; nth++) expect((await again()).status).toBe(200)
    expect(await again()).toMatchObject({ status: 429, body: { code: 'too_many_mails' } })
    await small.close()
  })

  it('is refused where no mail can be sent', async () => {
    const silent = await openWorld({ canMail: false })
    const wallet = privateKeyToAccount(generatePrivateKey())
    const { body } = await post(silent, '/siwe/verify', await proofOf(silent, wallet))
    const { headers } = testUserOf(body, '')
    expect((await get(silent, 'email', headers)).body).toMatchObject({ changeable: false })
    expect(await post(silent, '/email/change', { email: 'n@new.example' }, headers)).toMatchObject({
      status: 400,
      body: { code: 'email_change_unavailable' },
    })
    await silent.close()
  })
})

interface TestUser {
  id: string
  email: string
  token: string
  headers: { authorization: string }
}

function testUserOf(body: Record<string, unknown>, email: string): TestUser {
  const token = body['token'] as string
  return { id: (body['user'] as { id: string }).id, email, token, headers: { authorization: `Bearer ${token}` } }
}

function linkIn({ text }: { text: string }): string {
  return /http\S+/.exec(text)![0]
}
