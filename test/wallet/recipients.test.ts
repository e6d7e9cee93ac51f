import { NETWORKS } from '../../service/chain/networks.ts'
import { readConfig } from '../../service/config.ts'
import { recipientOf } from '../../service/wiring/tools.ts'
import { PAYWALL } from '../endpoints/post-paywalls/paywall.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

/** What is paid there could be spent by nobody: the same rule for whatever a seller sells. */
describe('recipients where nobody could spend', () => {
  const PAYER = '0x00000000000000000000000000000000000000e1'
  const OK = '0x00000000000000000000000000000000000000a1'
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService({ ALLOW_HOSTS: '127.0.0.1' })
    person = await service.person()
    await service.database.statements.run(
      `INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'sandbox', now())`,
      [PAYER, person.caller.user.id],
    )
  })
  afterAll(() => service.close())

  const CHECKOUT = { product: { name: 'A' }, price: 1, network: 'base-sepolia', callbackUrl: 'http://127.0.0.1:9/' }
  const SOLD = [
    ['/v1/checkouts', CHECKOUT, 'checkout'],
    ['/v1/paywalls', PAYWALL, 'paywall'],
  ] as const

  const addressOf = async (environment: 'production' | 'sandbox') =>
    (await service.wallets.depositAddress({ userId: person.caller.user.id, environment }))!

  test.each(SOLD)('are refused when they are first named and when they are changed: %s', async (path, body, name) => {
    const made = await person.call('POST', path, { body: { ...body, recipient: OK } })
    expect(made.status).toBe(201)
    const { id } = made.body[name] as { id: string }
    const refused = [PAYER, await addressOf('production'), ...Object.values(NETWORKS).map(({ usdc }) => usdc.address)]
    for (const recipient of refused) {
      const slug = name === 'paywall' ? { slug: 'another' } : {}
      for (const answer of [
        await person.call('POST', path, { body: { ...body, ...slug, recipient } }),
        await person.call('PATCH', `${path}/${id}`, { body: { recipient } }),
      ]) {
        expect([recipient, answer.status, answer.body.details]).toEqual([
          recipient,
          400,
          { recipient: expect.stringMatching(/^is /) },
        ])
      }
    }
    const found = (await person.call('GET', `${path}/${id}`)).body[name] as object
    expect(found).toMatchObject({ recipient: OK })
  })

  test.each(SOLD)('are not the seller’s own wallet: %s', async (path, body, name) => {
    const recipient = await addressOf('sandbox')
    const slug = name === 'paywall' ? { slug: 'own' } : {}
    const made = await person.call('POST', path, { body: { ...body, ...slug, recipient } })
    expect([made.status, (made.body[name] as { recipient: string }).recipient]).toEqual([201, recipient.toLowerCase()])
  })

  test('of the server’s own tools are refused as well, and the treasury is what is taken where none is named', async () => {
    const { recipients } = service.wallets
    const recipient = service.wallets.treasury()
    const read = (settings: Record<string, string>) => recipientOf(readConfig(settings), { recipient, recipients })
    for (const TOOLS_RECIPIENT of [PAYER, await addressOf('production'), NETWORKS['base-sepolia'].usdc.address]) {
      await expect(read({ TOOLS_RECIPIENT })).rejects.toThrow(/^TOOLS_RECIPIENT: is /)
    }
    expect(await read({ TOOLS_RECIPIENT: OK })).toBe(OK)
    expect([await read({}), await read({ TOOLS_RECIPIENT: recipient! })]).toEqual([recipient, recipient])
  })
})
