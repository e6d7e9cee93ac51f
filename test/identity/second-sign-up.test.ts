import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { newId } from '../../service/kit/ids.ts'
import { proofOf } from './proof.ts'
import { callerOf, confirmBy, DASHBOARD, get, openWorld, post, type World } from './world.ts'

const STRANGERS = 'the password of a stranger'
const OWNERS = 'the password of the owner'

describe('the link of a confirmation mail', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ confirmsFirst: true, live: true })
  })
  afterAll(() => world.close())

  const signUp = async (email: string): Promise<{ mail: { text: string }; cookie: string }> => {
    const { headers } = await post(world, '/sign-up/email', { email, password: STRANGERS, name: 'Somebody' })
    await world.deliver()
    const cookie = headers.getSetCookie().map((line) => line.split(';')[0])
    return { mail: world.mails.find(({ to }) => to === email)!, cookie: cookie.join('; ') }
  }
  const signIn = async (email: string, password: string): Promise<number> =>
    (await post(world, '/sign-in/email', { email, password })).status
  const isConfirmed = async (email: string) =>
    (await world.database.prisma.signInUser.findUniqueOrThrow({ where: { email } })).emailVerified

  it('changes nothing when it is only opened', async () => {
    const { mail, cookie } = await signUp('opened@example.com')
    const { pathname, search } = new URL(/http\S+/.exec(mail.text)![0])
    expect(pathname).toBe('/verify-email')
    for (const headers of [{}, { cookie }]) {
      // Links of older mails are under /auth.
      const older = await get(world, `verify-email${search}&callbackURL=https://thief.example`, headers)
      expect([older.status, older.headers.get('location')]).toEqual([302, `/verify-email${search}`])
    }
    expect(await isConfirmed('opened@example.com')).toBe(false)
  })

  it('is sent anew by a sign-in with the right password', async () => {
    const email = 'anew@example.com'
    await signUp(email)
    expect([await signIn(email, OWNERS), await signIn(email, STRANGERS)]).toEqual([401, 403])
    await world.deliver()
    const sent = world.mails.filter(({ to }) => to === email)
    expect(sent.map(({ subject }) => subject)).toEqual(Array(2).fill('Confirm your e-mail address for Coinslot'))
    expect((await confirmBy(world, sent[1]!, STRANGERS)).status).toBe(200)
    expect(await signIn(email, STRANGERS)).toBe(200)
  })

  it('signs in the browser that signed up, and its password stays', async () => {
    const { mail, cookie } = await signUp('same@example.com')
    const { status, body, headers } = await confirmBy(world, mail, undefined, { cookie, origin: DASHBOARD })
    expect([status, typeof body['token']]).toEqual([200, 'string'])
    expect(headers.getSetCookie().some((line) => line.startsWith('coinslot.session_token='))).toBe(true)
    expect((await callerOf(world, body['token'] as string)).user?.emailConfirmed).toBe(true)
    expect(await signIn('same@example.com', STRANGERS)).toBe(200)
  })

  it.each([
    ['without the cookie of a sign-up', false],
    ['with the cookie of another sign-up', true],
  ])('needs a password elsewhere, which replaces the stranger’s, and signs nobody in: %s', async (_, other) => {
    const email = `elsewhere-${String(other)}@example.com`
    const { mail } = await signUp(email)
    const headers: Record<string, string> = other
      ? { cookie: (await signUp('another@example.com')).cookie, origin: DASHBOARD }
      : {}
    expect(await confirmBy(world, mail, undefined, headers)).toMatchObject({
      status: 403,
      body: { code: 'password_required' },
    })
    expect((await confirmBy(world, mail, 'short', headers)).body).toMatchObject({ code: 'password_too_short' })
    expect(await isConfirmed(email)).toBe(false)
    const confirmed = await confirmBy(world, mail, OWNERS, headers)
    expect(confirmed).toMatchObject({ status: 200, body: { token: null } })
    expect(confirmed.headers.getSetCookie().filter((line) => line.includes('session'))).toEqual([])
    expect([await signIn(email, STRANGERS), await signIn(email, OWNERS)]).toEqual([401, 200])
    // A used link chooses no further password.
    expect((await confirmBy(world, mail, STRANGERS)).body).toMatchObject({ code: 'invalid_token' })
  })

  it('keeps the password of the sign-up where it is entered', async () => {
    const { mail } = await signUp('entered@example.com')
    expect((await confirmBy(world, mail, STRANGERS)).status).toBe(200)
    expect(await signIn('entered@example.com', STRANGERS)).toBe(200)
  })

  it.each(['confirms', 'chooses a password'])(
    'ends the sessions, wallets and keys of a stranger in a sandbox, whose password is replaced where the owner %s',
    async (act) => {
      const sandbox = await openWorld()
      try {
        const email = 'sandbox@example.com'
        const { body } = await post(sandbox, '/sign-up/email', { email, password: STRANGERS, name: 'Somebody' })
        const token = body['token'] as string
        const wallet = privateKeyToAccount(generatePrivateKey())
        const owner = { password: STRANGERS }
        const link = { ...(await proofOf(sandbox, wallet)), owner }
        const linked = await post(sandbox, '/siwe/link', link, { authorization: `Bearer ${token}` })
        expect(linked.status).toBe(200)
        const caller = await callerOf(sandbox, token)
        const { secret } = await sandbox.identity.keys.create(
          { ...caller, user: caller.user! },
          { name: 'a key', agentId: null, expiresAt: null },
          newId('op', sandbox.clock.now()),
        )
        if (act === 'chooses a password') await post(sandbox, '/request-password-reset', { email })
        await sandbox.deliver()
        const choice = new URL(/http\S+/.exec(sandbox.mails.at(-1)!.text)![0])
        const done =
          act === 'confirms'
            ? await confirmBy(sandbox, sandbox.mails[0]!, OWNERS)
            : await post(sandbox, '/reset-password', { token: choice.searchParams.get('token'), newPassword: OWNERS })
        expect(done.status).toBe(200)
        for (const credential of [token, secret]) {
          await expect(callerOf(sandbox, credential)).rejects.toMatchObject({ kind: 'unauthenticated' })
        }
        const again = await post(sandbox, '/siwe/verify', await proofOf(sandbox, wallet))
        expect((again.body['user'] as { id: string }).id).not.toBe(caller.user!.id)
        expect((await post(sandbox, '/sign-in/email', { email, password: OWNERS })).status).toBe(200)
      } finally {
        await sandbox.close()
      }
    },
  )
})

describe('an address that a stranger signed up with first, where it is confirmed before the first sign-in', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ confirmsFirst: true, live: true })
  })
  afterAll(() => world.close())

  const signUp = async (email: string, password: string): Promise<void> => {
    expect((await post(world, '/sign-up/email', { email, password, name: 'Somebody' })).body['token']).toBeNull()
    await world.deliver()
  }
  const signIn = async (email: string, password: string): Promise<number> =>
    (await post(world, '/sign-in/email', { email, password })).status
  const linksTo = (email: string): URL[] =>
    world.mails.filter(({ to }) => to === email).map(({ text }) => new URL(/http\S+/.exec(text)![0]))

  it.each(['confirms', 'chooses a password'])('is the owner’s alone once the owner %s', async (act) => {
    const email = `${act.split(' ')[0]!}@example.com`
    await signUp(email, STRANGERS)
    await signUp(email, OWNERS)
    const [confirmation, choice] = linksTo(email)
    if (act === 'confirms') {
      expect((await confirmBy(world, { text: confirmation!.href }, OWNERS)).status).toBe(200)
    } else {
      expect(choice!.pathname).toBe('/reset-password')
      const token = choice!.searchParams.get('token')
      expect((await post(world, '/reset-password', { token, newPassword: OWNERS })).status).toBe(200)
      const { status, body } = await post(world, '/sign-in/email', { email, password: OWNERS })
      expect(status).toBe(200)
      expect((await callerOf(world, body['token'] as string)).user).toMatchObject({ email, emailConfirmed: true })
    }
    expect(await signIn(email, STRANGERS)).toBe(401)
  })

  it('gets no password by a stranger who signs up last', async () => {
    const email = 'last@example.com'
    await signUp(email, OWNERS)
    await signUp(email, STRANGERS)
    await confirmBy(world, { text: linksTo(email)[0]!.href }, OWNERS)
    expect(await signIn(email, STRANGERS)).toBe(401)
  })

  it('keeps its password where it was confirmed before, and its owner is told', async () => {
    const email = 'kept@example.com'
    await signUp(email, OWNERS)
    await confirmBy(world, { text: linksTo(email)[0]!.href }, OWNERS)
    await signUp(email, STRANGERS)
    expect(linksTo(email)[1]!.pathname).toBe('/reset-password')
    expect([await signIn(email, OWNERS), await signIn(email, STRANGERS)]).toEqual([200, 401])
  })
})
