import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createTakeLimit } from '../../service/api/limits.ts'
import type { Notice } from '../../service/identity/model.ts'
import { proofOf } from './proof.ts'
import { confirmBy, openWorld, post, type World } from './world.ts'

const PASSWORD = 'correct horse battery'
const owner = { password: PASSWORD }

/** A thief of a session could have done these, so the account's owner gets a mail about each. */
describe("the mail to an account's owner", () => {
  let world: World
  let people = 0
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  async function signUp(confirmed = true) {
    const email = `owner${String(++people)}@example.com`
    const { body } = await post(world, '/sign-up/email', { email, password: PASSWORD, name: 'Somebody' })
    await world.deliver()
    if (confirmed)
      await confirmBy(
        world,
        world.mails.find(({ to }) => to === email)!,
        PASSWORD,
      )
    const headers = { authorization: `Bearer ${body['token'] as string}` }
    return { id: (body['user'] as { id: string }).id, email, headers }
  }

  async function mailsTo(email: string): Promise<{ subject: string; text: string }[]> {
    await world.deliver()
    return world.mails.filter(({ to, subject }) => to === email && !subject.startsWith('Confirm'))
  }

  it('reports a connected wallet and a removed one, once each', async () => {
    const { email, headers } = await signUp()
    const wallet = privateKeyToAccount(generatePrivateKey())
    expect((await post(world, '/siwe/link', { ...(await proofOf(world, wallet)), owner }, headers)).status).toBe(200)
    // Repeating it sends no second mail.
    await post(world, '/siwe/link', { ...(await proofOf(world, wallet)), owner }, headers)
    await post(world, '/siwe/unlink', { address: wallet.address, owner }, headers)
    await post(world, '/siwe/unlink', { address: wallet.address, owner }, headers)
    const mails = await mailsTo(email)
    expect(mails.map(({ subject }) => subject)).toEqual([
      'A wallet was connected to your Coinslot account',
      'A wallet was removed from your Coinslot account',
    ])
    for (const { text } of mails) {
      expect(text).toContain(wallet.address)
      expect(text).toContain('http://localhost:4020/settings')
      expect(text).toMatch(/It happened on \d{4}-\d\d-\d\d at \d\d:\d\d UTC/)
    }
  })

  it('does not include refused changes', async () => {
    const [{ email, headers }, other] = [await signUp(), await signUp()]
    const wallet = privateKeyToAccount(generatePrivateKey())
    await post(world, '/siwe/link', { ...(await proofOf(world, wallet)), owner }, other.headers)
    expect((await post(world, '/siwe/link', { ...(await proofOf(world, wallet)), owner }, headers)).status).toBe(409)
    const wrong = { currentPassword: 'not this one at all', newPassword: 'quite another staple' }
    expect((await post(world, '/change-password', wrong, headers)).status).toBe(400)
    expect(await mailsTo(email)).toEqual([])
  })

  it('reports a new password, whether changed or reset', async () => {
    const { email, headers } = await signUp()
    const change = { currentPassword: PASSWORD, newPassword: 'quite another staple', revokeOtherSessions: true }
    expect((await post(world, '/change-password', change, headers)).status).toBe(200)
    expect((await mailsTo(email)).map(({ subject }) => subject)).toEqual(['Your Coinslot password was changed'])
    await post(world, '/request-password-reset', { email })
    const { text } = (await mailsTo(email)).at(-1)!
    const token = new URL(/http\S+/.exec(text)![0]).searchParams.get('token')
    expect((await post(world, '/reset-password', { token, newPassword: 'a third battery' })).status).toBe(200)
    expect((await mailsTo(email)).map(({ subject }) => subject)).toEqual([
      'Your Coinslot password was changed',
      'Choose a new password for Coinslot',
      'Your Coinslot password was changed',
    ])
  })

  it('is not sent to an unconfirmed address', async () => {
    const { id, email, headers } = await signUp(false)
    const wallet = privateKeyToAccount(generatePrivateKey())
    await post(world, '/siwe/link', { ...(await proofOf(world, wallet)), owner }, headers)
    await post(world, '/change-password', { currentPassword: PASSWORD, newPassword: 'quite another staple' }, headers)
    const notice: Notice = { kind: 'payout-address', environment: 'production', address: wallet.address }
    await world.database.statements.together((inside) => world.identity.tellOwner(inside, id, notice))
    expect(await mailsTo(email)).toEqual([])
  })

  it('reports a new payout address, in the transaction of the change', async () => {
    const { id, email } = await signUp()
    const address = '0x00000000000000000000000000000000000000a1'
    const notify = (notice: Notice, then: () => void = () => undefined) =>
      world.database.statements.together(async (inside) => {
        await world.identity.tellOwner(inside, id, notice)
        then()
      })
    await notify({ kind: 'payout-address', environment: 'production', address })
    await notify({ kind: 'payout-address', environment: 'sandbox', address: null })
    const undone = notify({ kind: 'payout-address', environment: 'production', address: null }, () => {
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const [changed, removed, ...more] = await mailsTo(email)
    expect(changed).toMatchObject({ subject: 'Your Coinslot payout address was changed' })
    expect(changed?.text).toContain(`Withdrawals of your production account now go to ${address}`)
    expect(removed).toMatchObject({ subject: 'Your Coinslot payout address was removed' })
    expect(more).toEqual([])
  })

  it('is limited to five of a kind per hour, and retried when the mail server refuses it', async () => {
    const checks: string[] = []
    let refuses = false
    const sent: string[] = []
    const small = await openWorld({
      mayMail: async (kind, to) => checks.push(`${kind} ${to}`) <= 5,
      mailer: {
        async send({ id }) {
          if (refuses) throw new Error('the mail server is away')
          sent.push(id)
        },
      },
    })
    const mail = { to: 'o@example.com', notice: { kind: 'password-changed' as const } }
    const send = (id: string, attempt: number) =>
      small.identity.sendNotice(mail, { id, attempt, announcedAt: new Date() })
    for (const id of ['1', '2', '3', '4']) await send(id, 0)
    refuses = true
    await expect(send('5', 0)).rejects.toThrow('away')
    refuses = false
    await send('6', 0)
    await send('5', 1)
    expect(sent).toEqual(['1', '2', '3', '4', '5'])
    expect(new Set(checks)).toEqual(new Set(['password-changed o@example.com']))
    await small.close()
  })
  it('to an address that a customer entered are counted when they were sent, so an outage loses none', async () => {
    const limit = createTakeLimit('test', 5, null, 3_600)
    let refuses = true
    const sent: string[] = []
    const small = await openWorld({
      mayMail: (kind, to) => limit.take(`${kind} ${to}`),
      notMailed: (kind, to) => limit.giveBack(`${kind} ${to}`),
      mailer: {
        async send({ id }) {
          if (refuses) throw new Error('the mail server is away')
          sent.push(id)
        },
      },
    })
    const send = (id: string) =>
      small.identity.mailCustomer({ id, to: 'Buyer@example.com', subject: 'A reminder', text: 'It ends soon.' })
    for (let attempt = 0; attempt < 10; attempt++) await expect(send('1')).rejects.toThrow('away')
    refuses = false
    for (const id of ['1', '2', '3', '4', '5', '6']) await send(id)
    expect(sent).toEqual(['1', '2', '3', '4', '5'])
    await small.close()
  })
})
