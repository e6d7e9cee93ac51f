import { callerOf, confirmBy, get, grantsOf, openWorld, post, type World } from './world.ts'

const PASSWORD = 'correct horse battery'

describe('the sign-in', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  async function signUp(email: string): Promise<{ token: string; userId: string }> {
    const { status, body } = await post(world, '/sign-up/email', { email, password: PASSWORD, name: 'Somebody' })
    expect(status).toBe(200)
    return { token: body['token'] as string, userId: (body['user'] as { id: string }).id }
  }

  describe('e-mail and password', () => {
    it('signs up with a session for the API, wallets, and credits in the sandbox only', async () => {
      const { token, userId } = await signUp('Ann@Example.com')
      const caller = await callerOf(world, token)
      expect(caller).toMatchObject({
        subject: userId,
        issuer: 'coinslot',
        environment: 'sandbox',
        via: 'session',
        keyId: null,
      })
      expect(caller.user).toMatchObject({
        id: userId,
        email: 'ann@example.com',
        name: 'Somebody',
        emailConfirmed: false,
      })
      expect(await grantsOf(world, userId)).toEqual([5, 0])
    })

    it('sets a cookie that scripts cannot read, and that the API accepts', async () => {
      await signUp('cookie@example.com')
      const { headers } = await post(world, '/sign-in/email', { email: 'cookie@example.com', password: PASSWORD })
      const cookie = headers.getSetCookie().find((line) => line.startsWith('coinslot.session_token='))!
      expect(cookie).toMatch(/; HttpOnly/i)
      expect(cookie).toMatch(/; SameSite=Lax/i)
      expect(cookie).not.toMatch(/; Secure/i)
      const request = { authorization: undefined, environmentHeader: undefined, now: world.clock.now() }
      const caller = await world.identity.identify({ ...request, cookie: cookie.split(';')[0] })
      expect(caller.user?.email).toBe('cookie@example.com')
      // A page of another account, in a browser that is now signed in as this one.
      const ofPage = { ...request, cookie: cookie.split(';')[0] }
      await expect(world.identity.identify({ ...ofPage, accountHeader: 'another' })).rejects.toMatchObject({
        code: 'unauthenticated',
        fields: { reason: 'account_changed' },
      })
      const accountHeader = encodeURIComponent(caller.subject)
      expect((await world.identity.identify({ ...ofPage, accountHeader })).user?.email).toBe('cookie@example.com')
      // Without its signature it is a guess.
      const forged = cookie.split(';')[0]!.replace(/\.[^.]*$/, '.AAAA')
      await expect(world.identity.identify({ ...request, cookie: forged })).rejects.toMatchObject({
        kind: 'unauthenticated',
      })
    })

    it('behind https the cookie is Secure', async () => {
      const secure = await openWorld({ dashboard: 'https://pay.example.com' })
      try {
        const request = new Request('https://pay.example.com/auth/sign-up/email', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: 'a@example.com', password: PASSWORD, name: 'A' }),
        })
        const answer = await secure.identity.answerSignIn(request)
        expect(answer.headers.getSetCookie().join()).toMatch(/__Secure-coinslot.session_token=.*; Secure/i)
      } finally {
        await secure.close()
      }
    })

    it.each([
      ['nine characters', 'ninechars', 400, 'password_too_short'],
      ['129 characters', 'x'.repeat(129), 400, 'password_too_long'],
    ])('refuses a password of %s', async (_, password, status, code) => {
      const answer = await post(world, '/sign-up/email', { email: 'short@example.com', password, name: 'S' })
      expect(answer.status).toBe(status)
      expect(answer.body).toMatchObject({ code, error: expect.any(String) as string })
    })

    it('accepts passwords of ten and of 128 characters', async () => {
      for (const [place, password] of ['ten chars!', 'x'.repeat(128)].entries()) {
        const email = `long${String(place)}@example.com`
        expect((await post(world, '/sign-up/email', { email, password, name: 'L' })).status).toBe(200)
        expect((await post(world, '/sign-in/email', { email, password })).status).toBe(200)
      }
    })

    it('answers a wrong password and an unknown address alike', async () => {
      await signUp('known@example.com')
      const wrong = await post(world, '/sign-in/email', { email: 'known@example.com', password: 'not the password' })
      const unknown = await post(world, '/sign-in/email', {
        email: 'unknown@example.com',
        password: 'not the password',
      })
      expect(wrong.status).toBe(401)
      expect(unknown.status).toBe(401)
      expect(wrong.body).toEqual(unknown.body)
      expect(wrong.body).toMatchObject({ code: 'invalid_email_or_password' })
    })

    it('creates one account for concurrent sign-ups', async () => {
      const body = { email: 'twice@example.com', password: PASSWORD, name: 'T' }
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(world, '/sign-up/email', body)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(await world.database.prisma.signInUser.count({ where: { email: 'twice@example.com' } })).toBe(1)
      expect(await world.database.prisma.user.count({ where: { email: 'twice@example.com' } })).toBe(1)
      const { body: signedIn } = await post(world, '/sign-in/email', body)
      expect((await callerOf(world, signedIn['token'] as string)).user?.email).toBe('twice@example.com')
    })

    it('completes at the next request an account that a crash left incomplete', async () => {
      const { token, userId } = await signUp('crash@example.com')
      // As if the process had died between better-auth's commit and ours.
      await world.database.statements.run('DELETE FROM identity_user WHERE id = $1', [userId])
      const caller = await callerOf(world, token)
      expect(caller.user?.id).toBe(userId)
      expect(await grantsOf(world, userId)).toEqual([5, 0])
    })
  })

  describe('a session', () => {
    it('ends at once by signing out', async () => {
      const { token } = await signUp('out@example.com')
      await callerOf(world, token)
      expect((await post(world, '/sign-out', {}, { authorization: `Bearer ${token}` })).status).toBe(200)
      await expect(callerOf(world, token)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it('ends when it expires', async () => {
      const { token } = await signUp('over@example.com')
      await world.database.prisma.signInSession.updateMany({
        // Its name, without the signature that makes it a credential.
        where: { token: token.split('.')[0]! },
        data: { expiresAt: new Date(Date.now() - 1) },
      })
      await expect(callerOf(world, token)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it('is shown and listed to its owner', async () => {
      const { token } = await signUp('list@example.com')
      const authorization = `Bearer ${token}`
      const shown = await get(world, 'get-session', { authorization })
      expect(shown.body['user']).toMatchObject({ email: 'list@example.com' })
      expect((await get(world, 'list-sessions', { authorization })).status).toBe(200)
    })

    it.each(['x', '%', '%E0%A4%A', '.', 'a.b', 'a.', '.b', '%00', '..', '=', ';', 'a;b=c', 'x'.repeat(8000)])(
      'is not accepted from a malformed token (%#)',
      async (token) => {
        await expect(callerOf(world, token)).rejects.toMatchObject({ kind: 'unauthenticated' })
        const request = { authorization: undefined, environmentHeader: undefined, now: world.clock.now() }
        const cookie = `coinslot.session_token=${token}`
        await expect(world.identity.identify({ ...request, cookie })).rejects.toMatchObject({ kind: 'unauthenticated' })
      },
    )

    it('does not fall back to the cookie when the token is wrong', async () => {
      await signUp('both@example.com')
      const { headers } = await post(world, '/sign-in/email', { email: 'both@example.com', password: PASSWORD })
      const cookie = headers.getSetCookie()[0]!.split(';')[0]!
      const request = { authorization: 'Bearer wrong', cookie, environmentHeader: undefined, now: world.clock.now() }
      await expect(world.identity.identify(request)).rejects.toMatchObject({ kind: 'unauthenticated' })
    })
  })

  describe('confirming the address', () => {
    it('is done by a mailed link, which grants the production credits once', async () => {
      const { token, userId } = await signUp('confirm@example.com')
      await world.deliver()
      const mail = world.mails.find(({ to }) => to === 'confirm@example.com')!
      expect(/http\S+/.exec(mail.text)![0]).toMatch(/^http:\/\/localhost:4020\/verify-email\?token=/)
      const authorization = `Bearer ${token}`
      expect((await confirmBy(world, mail, undefined, { authorization })).status).toBe(200)
      expect((await confirmBy(world, mail, undefined, { authorization })).body).toMatchObject({ code: 'invalid_token' })
      expect(await grantsOf(world, userId)).toEqual([5, 5])
      expect((await callerOf(world, token)).user?.emailConfirmed).toBe(true)
    })

    it('is finished at the next request when a crash cut it off', async () => {
      const { token, userId } = await signUp('halfway@example.com')
      await world.database.prisma.signInUser.update({ where: { id: userId }, data: { emailVerified: true } })
      expect((await callerOf(world, token)).user?.emailConfirmed).toBe(true)
      expect(await grantsOf(world, userId)).toEqual([5, 5])
    })

    it('can be requested again until it is done', async () => {
      const { token, userId } = await signUp('again@example.com')
      await world.deliver()
      const authorization = `Bearer ${token}`
      await post(world, '/send-verification-email', { email: 'again@example.com' }, { authorization })
      await world.deliver()
      expect(world.mails.filter(({ to }) => to === 'again@example.com')).toHaveLength(2)
      await world.database.prisma.signInUser.update({ where: { id: userId }, data: { emailVerified: true } })
      await world.identity.sendConfirmation(userId, '1')
      expect(world.mails.filter(({ to }) => to === 'again@example.com')).toHaveLength(2)
    })

    it('is refused for a forged link', async () => {
      const { userId } = await signUp('forged@example.com')
      const forged =
        'eyJhbGciOiJIUzI1NiJ9.eyJlbWFpbCI6ImZvcmdlZEBleGFtcGxlLmNvbSJ9.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
      expect((await post(world, '/verify-email', { token: forged, password: PASSWORD })).status).toBe(400)
      expect(await grantsOf(world, userId)).toEqual([5, 0])
    })
  })

  describe('the refusals of the sign-in', () => {
    it('include an e-mail sign-up where no mail can be sent', async () => {
      const mute = await openWorld({ live: true, canMail: false })
      try {
        const answer = await post(mute, '/sign-up/email', { email: 'm@example.com', password: PASSWORD, name: 'M' })
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ code: 'email_sign_up_unavailable' })
        expect(answer.body['error']).toMatch(/cannot send mail/)
      } finally {
        await mute.close()
      }
    })

    it('include the placeholder address of a wallet', async () => {
      const email = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8@wallet.invalid'
      expect((await post(world, '/sign-up/email', { email, password: PASSWORD, name: 'W' })).status).toBe(400)
    })

    it('include requests of other sites', async () => {
      const body = { email: 'csrf@example.com', password: PASSWORD, name: 'C' }
      const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }
      expect((await post(world, '/sign-up/email', body, evil)).status).toBe(403)
      const text = new Request('http://localhost:4020/auth/sign-up/email', {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: JSON.stringify(body),
      })
      expect((await world.identity.answerSignIn(text)).status).toBe(415)
    })

    it.each([
      ['no JSON', '{', 400, 'invalid_json'],
      [
        'a character that no text may hold',
        '{"email":"a@example.com","password":"0123456789","name":"a\\u0000"}',
        400,
        'invalid_input',
      ],
      ['no address', '{"email":"nobody","password":"0123456789","name":"a"}', 400, 'validation_error'],
      ['another type', '{"email":5,"password":[],"name":{}}', 400, 'invalid_input'],
    ])('%s', async (_, body, status, code) => {
      const request = new Request('http://localhost:4020/auth/sign-up/email', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' },
        body,
      })
      const answer = await world.identity.answerSignIn(request)
      expect(answer.status).toBe(status)
      expect(await answer.json()).toMatchObject({ code, requestId: 'req_1', error: expect.any(String) as string })
    })

    it.each(['/delete-user', '/change-email', '/sign-in/social', '/ok', '/update-session', ''])(
      'anything else of the library: POST %s',
      async (path) => {
        expect((await post(world, path, {})).status).toBe(404)
      },
    )
  })
})
