import { callerOf, get, openWorld, post, type World } from './world.ts'

const STRANGERS = 'the password of a stranger'
const OWNERS = 'the password of the owner'

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
      expect((await get(world, confirmation!.href)).status).toBe(302)
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
    await get(world, linksTo(email)[0]!.href)
    expect(await signIn(email, STRANGERS)).toBe(401)
  })

  it('keeps its password where it was confirmed before, and its owner is told', async () => {
    const email = 'kept@example.com'
    await signUp(email, OWNERS)
    await get(world, linksTo(email)[0]!.href)
    await signUp(email, STRANGERS)
    expect(linksTo(email)[1]!.pathname).toBe('/reset-password')
    expect([await signIn(email, OWNERS), await signIn(email, STRANGERS)]).toEqual([200, 401])
  })
})
