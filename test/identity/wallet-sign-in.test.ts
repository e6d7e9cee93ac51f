import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { walletSignatures } from '../../service/chain/signin.ts'
import { messageOf, nonceOf, proofOf, type Fields } from './proof.ts'
import { callerOf, grantsOf, openWorld, post, type World } from './world.ts'

describe('a wallet', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  async function signIn(account: PrivateKeyAccount, fields: Fields = {}) {
    return await post(world, '/siwe/verify', await proofOf(world, account, fields))
  }

  describe('Sign-In with Ethereum', () => {
    it('makes a user with wallets and sandbox credits, and finds the same one again, on every chain', async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const first = await signIn(account, {
        statement: 'Sign in to Coinslot.',
        resources: ['https://example.com/terms'],
      })
      expect(first.status).toBe(200)
      const caller = await callerOf(world, first.body['token'] as string)
      expect(caller.user).toMatchObject({
        issuer: 'coinslot',
        name: account.address,
        email: null,
        emailConfirmed: false,
      })
      expect(await grantsOf(world, caller.user!.id)).toEqual([5, 0])
      const again = await signIn(account, { chainId: 1 })
      expect((await callerOf(world, again.body['token'] as string)).user?.id).toBe(caller.user?.id)
      expect(first.headers.getSetCookie().join()).toMatch(/coinslot\.session_token=/)
    })

    it('makes one user of concurrent first sign-ins', async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const answers = await Promise.all(Array.from({ length: 10 }, () => signIn(account)))
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
      const callers = await Promise.all(answers.map(({ body }) => callerOf(world, body['token'] as string)))
      expect(new Set(callers.map(({ user }) => user?.id)).size).toBe(1)
      expect(await grantsOf(world, callers[0]!.user!.id)).toEqual([5, 0])
    })

    it('accepts a message once, also concurrently', async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const body = await proofOf(world, account)
      const answers = await Promise.all([1, 2, 3].map(() => post(world, '/siwe/verify', body)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
      expect((await post(world, '/siwe/verify', body)).body).toMatchObject({ code: 'nonce_unknown' })
    })

    it('gets no mail to its placeholder address', async () => {
      await signIn(privateKeyToAccount(generatePrivateKey()))
      await world.deliver()
      expect(world.mails).toEqual([])
    })

    it.each<[string, () => Fields, RegExp]>([
      ['a URI of another site', () => ({ uri: 'http://evil.example' }), /for http:\/\/evil\.example/],
      ['a message of ten minutes ago', () => ({ issuedAt: new Date(Date.now() - 600_000) }), /more than 5 minutes ago/],
      ['another site', () => ({ domain: 'evil.example' }), /for evil\.example/],
      ['this host on another port', () => ({ domain: 'localhost:4021' }), /for localhost:4021/],
      ['a chain that is not ours', () => ({ chainId: 5 }), /chain 5/],
      ['what has expired', () => ({ expirationTime: new Date(Date.now() - 1000) }), /expired/],
      ['what is not valid yet', () => ({ notBefore: new Date(Date.now() + 60_000) }), /not valid yet/],
      ['what is from the future', () => ({ issuedAt: new Date(Date.now() + 3_600_000) }), /future/],
      ['an unknown nonce', () => ({ nonce: 'abcdefgh12345678' }), /nonce/],
    ])('refuses %s', async (_, fields, sentence) => {
      const answer = await signIn(privateKeyToAccount(generatePrivateKey()), fields())
      expect(answer.status).toBe(401)
      expect(answer.body['error']).toMatch(sentence)
    })

    it("refuses another account's, malformed and contract signatures, each with its reason", async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const other = privateKeyToAccount(generatePrivateKey())
      const message = messageOf(account, await nonceOf(world))
      const foreign = await other.signMessage({ message })
      const cases: [string, RegExp][] = [
        [foreign, /not by the address/],
        ['0x1234', /Contract wallets cannot sign in/],
        [`0x${'ab'.repeat(400)}`, /Contract wallets cannot sign in/],
        [`0x${'00'.repeat(65)}`, /not valid/],
        [`0x${'ff'.repeat(65)}`, /not valid/],
        ['zz', /hexadecimal/],
      ]
      for (const [signature, sentence] of cases) {
        const answer = await post(world, '/siwe/verify', { message, signature })
        expect(answer.status).toBe(401)
        expect(answer.body).toMatchObject({ code: 'wallet_refused' })
        expect(answer.body['error']).toMatch(sentence)
      }
      // None of these used the nonce up.
      const answer = await post(world, '/siwe/verify', { message, signature: await account.signMessage({ message }) })
      expect(answer.status).toBe(200)
    })

    it('reads the message as a whole: fields hidden in a statement, before or after count for nothing', async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const good = messageOf(account, 'abcdefgh12345678', { statement: 'Hello.' })
      const broken = [
        good.replace('Hello.', 'Hello.\nNonce: zzzzzzzz'),
        `${good}\nNonce: zzzzzzzz`,
        `localhost:4020 wants you to sign in with your Ethereum account:\n${good}`,
        good.replace('Version: 1', 'Version: 2'),
        good.replace(/\n/g, '\r\n'),
        good.replace('Chain ID: 8453', 'Chain ID: 0x2105'),
        good.replace(/Issued At: .*/, 'Issued At: yesterday'),
        good.replace(/Issued At: .*/, 'Issued At: 2026-13-45T00:00:00Z'),
        good.replace('localhost:4020 wants', 'user@localhost:4020 wants'),
        '',
        `${good}${' '.repeat(5000)}`,
      ]
      const expected = { domain: 'localhost:4020', origin: 'http://localhost:4020', chainIds: [8453], now: new Date() }
      for (const message of broken) {
        const signature = await account.signMessage({ message })
        await expect(walletSignatures.read(message, signature, expected)).rejects.toMatchObject({
          code: 'wallet_refused',
        })
      }
      const signature = await account.signMessage({ message: good })
      const read = await walletSignatures.read(good, signature, expected)
      expect(read).toEqual({ address: account.address, nonce: 'abcdefgh12345678' })
    })

    it("is the same with or without its address's checksum", async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const message = messageOf(account, 'abcdefgh12345678').replace(account.address, account.address.toLowerCase())
      const expected = { domain: 'LOCALHOST:4020', origin: 'http://localhost:4020', chainIds: [8453], now: new Date() }
      const read = await walletSignatures.read(message, await account.signMessage({ message }), expected)
      expect(read.address).toBe(account.address)
    })
  })
})
