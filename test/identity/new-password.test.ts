import { createEmailStore } from '../../service/identity/signin/store.ts'
import { callerOf, openWorld, post, type World } from './world.ts'

const OLD = 'correct horse battery'
const NEW = 'quite another staple'

describe('a forgotten password', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  async function signUp(email: string): Promise<{ token: string; userId: string }> {
    const { body } = await post(world, '/sign-up/email', { email, password: OLD, name: 'Somebody' })
    await world.deliver()
    return { token: body['token'] as string, userId: (body['user'] as { id: string }).id }
  }
  const signIn = async (email: string, password: string): Promise<number> =>
    (await post(world, '/sign-in/email', { email, password })).status
  const requestReset = (email: string) => post(world, '/request-password-reset', { email })
  const mailsTo = (email: string) =>
    world.mails.filter(({ to, subject }) => to === email && subject.includes('new password'))
  const tokenOf = ({ text }: { text: string }): string => new URL(/http\S+/.exec(text)![0]).searchParams.get('token')!
  const reset = (token: string, newPassword = NEW) => post(world, '/reset-password', { token, newPassword })

  it('is replaced by a mailed link, once, which also ends all sessions', async () => {
    const email = 'forgot@example.com'
    const { token: session } = await signUp(email)
    expect((await requestReset(email)).status).toBe(200)
    await world.deliver()
    const [mail] = mailsTo(email)
    expect(mail?.text).toContain('http://localhost:4020/reset-password?token=')
    expect((await reset(tokenOf(mail!))).status).toBe(200)
    expect(await signIn(email, OLD)).toBe(401)
    expect(await signIn(email, NEW)).toBe(200)
    await expect(callerOf(world, session)).rejects.toMatchObject({ kind: 'unauthenticated' })
    expect((await reset(tokenOf(mail!), 'a third password')).body).toMatchObject({ code: 'invalid_token' })
    expect(await signIn(email, NEW)).toBe(200)
  })

  it('answers alike for known and unknown addresses', async () => {
    await signUp('known@example.com')
    const [known, unknown] = [await requestReset('known@example.com'), await requestReset('nobody@example.com')]
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body])
    await world.deliver()
    expect(mailsTo('nobody@example.com')).toEqual([])
  })

  it('a mail that is sent twice contains the same link', async () => {
    const { userId } = await signUp('twice@example.com')
    await world.identity.sendReset(userId, 'mail-1')
    await world.identity.sendReset(userId, 'mail-1')
    await world.identity.sendReset(userId, 'mail-2')
    const [first, second, other] = mailsTo('twice@example.com').map(tokenOf)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
  })

  it.each(['by another link', 'while signed in'])(
    'ends the links that were mailed before when it is set %s',
    async (way) => {
      const email = `${way.replaceAll(' ', '-')}@example.com`
      const { token, userId } = await signUp(email)
      await world.identity.sendReset(userId, `${way} 1`)
      await world.identity.sendReset(userId, `${way} 2`)
      const [older, newer] = mailsTo(email).map(tokenOf)
      if (way === 'by another link') expect((await reset(newer!)).status).toBe(200)
      else {
        const change = { currentPassword: OLD, newPassword: NEW }
        const { status } = await post(world, '/change-password', change, { authorization: `Bearer ${token}` })
        expect(status).toBe(200)
      }
      expect((await reset(older!, 'a third password')).body).toMatchObject({ code: 'invalid_token' })
      expect(await signIn(email, NEW)).toBe(200)
    },
  )

  it('is not replaced again by a used link whose mail is sent once more', async () => {
    const { userId } = await signUp('used@example.com')
    await world.identity.sendReset(userId, 'used')
    const [mail] = mailsTo('used@example.com')
    expect((await reset(tokenOf(mail!))).status).toBe(200)
    await world.identity.sendReset(userId, 'used')
    expect((await reset(tokenOf(mail!), 'a third password')).body).toMatchObject({ code: 'invalid_token' })
    expect(await signIn('used@example.com', NEW)).toBe(200)
  })

  it('is not replaced by a link to an earlier address whose mail is sent once more', async () => {
    const { userId } = await signUp('earlier@example.com')
    await world.identity.sendReset(userId, 'moved')
    const [mail] = mailsTo('earlier@example.com')
    const emails = createEmailStore(world.database.statements, () => Promise.resolve())
    const change = { subject: userId, from: 'earlier@example.com', to: 'later@example.com' }
    expect(await emails.change(change, world.clock.now())).toBe('changed')
    await world.identity.sendReset(userId, 'moved')
    expect(mailsTo('later@example.com')).toHaveLength(1)
    expect((await reset(tokenOf(mail!))).body).toMatchObject({ code: 'invalid_token' })
    expect(await signIn('later@example.com', OLD)).toBe(200)
  })

  it('keeps the old one when the new one is too short, and the link still works', async () => {
    const { userId } = await signUp('short@example.com')
    await world.identity.sendReset(userId, 'short')
    const token = tokenOf(mailsTo('short@example.com')[0]!)
    expect((await reset(token, 'short')).body).toMatchObject({ code: 'password_too_short' })
    expect(await signIn('short@example.com', OLD)).toBe(200)
    expect((await reset(token)).status).toBe(200)
  })

  it('is not replaced by a forged link, nor by an expired one', async () => {
    const { userId } = await signUp('late@example.com')
    expect((await reset('a'.repeat(43))).status).toBe(400)
    await world.identity.sendReset(userId, 'late')
    await world.database.prisma.signInVerification.updateMany({
      where: { value: userId },
      data: { expiresAt: new Date(Date.now() - 1_000) },
    })
    expect((await reset(tokenOf(mailsTo('late@example.com')[0]!))).status).toBe(400)
    expect(await signIn('late@example.com', OLD)).toBe(200)
  })
})
