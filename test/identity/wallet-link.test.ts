import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createWalletStore } from '../../service/identity/signin/store.ts'
import { proofOf, type Proof } from './proof.ts'
import { callerOf, get, openWorld, post, type World } from './world.ts'

const PASSWORD = 'correct horse battery'

describe('wallets of an account', () => {
  let world: World
  let people = 0
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  async function signUp(): Promise<TestUser> {
    const email = `somebody${String(++people)}@example.com`
    const { status, body } = await post(world, '/sign-up/email', { email, password: PASSWORD, name: 'Somebody' })
    expect(status).toBe(200)
    const owner = () => Promise.resolve({ password: PASSWORD })
    return { id: (body['user'] as { id: string }).id, headers: bearer(body), owner }
  }

  async function signIn(wallet: PrivateKeyAccount): Promise<TestUser> {
    const { status, body } = await post(world, '/siwe/verify', await proofOf(world, wallet))
    expect(status).toBe(200)
    return { id: (body['user'] as { id: string }).id, headers: bearer(body), owner: by(wallet) }
  }

  const by = (wallet: PrivateKeyAccount) => async () => ({ wallet: await proofOf(world, wallet) })

  async function link(user: TestUser, wallet: PrivateKeyAccount) {
    return await linkBy(user, await proofOf(world, wallet))
  }

  async function linkBy({ headers, owner }: TestUser, proof: Proof) {
    return await post(world, '/siwe/link', { ...proof, owner: await owner() }, headers)
  }

  async function unlink({ headers, owner }: TestUser, address: string) {
    return await post(world, '/siwe/unlink', { address, owner: await owner() }, headers)
  }

  async function listed({ headers }: TestUser): Promise<string[]> {
    const { status, body } = await get(world, 'siwe/wallets', headers)
    expect(status).toBe(200)
    return (body['wallets'] as { address: string }[]).map(({ address }) => address)
  }

  async function isOneWaiting(): Promise<boolean> {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return (await world.database.statements.run(waiting, [])).length > 0
  }

  it('sign in to that account once connected, and are listed with the time', async () => {
    const ann = await signUp()
    const wallet = newWallet()
    expect(await listed(ann)).toEqual([])
    const { status, body } = await link(ann, wallet)
    expect(status).toBe(200)
    expect(body['address']).toBe(wallet.address)
    expect(Math.abs(Date.parse(body['connectedAt'] as string) - Date.now())).toBeLessThan(60_000)
    expect((await get(world, 'siwe/wallets', ann.headers)).body).toEqual({ wallets: [body] })

    const session = await post(world, '/siwe/verify', await proofOf(world, wallet))
    const caller = await callerOf(world, session.body['token'] as string)
    expect(caller.user).toMatchObject({ id: ann.id, name: 'Somebody', email: 'somebody1@example.com' })
    // Repeating it returns the same and changes nothing.
    expect((await link(ann, wallet)).body).toEqual(body)
    expect(await listed(ann)).toEqual([wallet.address])
  })

  it('cannot be linked, unlinked or listed without a session', async () => {
    const wallet = newWallet()
    const proof = await proofOf(world, wallet)
    for (const headers of [{}, { authorization: 'Bearer nobody' }]) {
      const answers = [
        await post(world, '/siwe/link', proof, headers),
        await post(world, '/siwe/unlink', { address: wallet.address }, headers),
        await get(world, 'siwe/wallets', headers),
      ]
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
      expect(answers[0]?.body).toMatchObject({ code: 'unauthorized' })
    }
    // The nonce was not used up by it.
    expect((await post(world, '/siwe/verify', proof)).status).toBe(200)
  })

  it('accept a message once, signed by that wallet for this site', async () => {
    const ann = await signUp()
    const wallet = newWallet()
    const proof = await proofOf(world, wallet)
    expect((await linkBy(ann, proof)).status).toBe(200)
    for (const path of ['/siwe/link', '/siwe/verify']) {
      const again = await post(world, path, { ...proof, owner: await ann.owner() }, ann.headers)
      expect([again.status, again.body['code']]).toEqual([401, 'nonce_unknown'])
    }
    const elsewhere = await proofOf(world, newWallet(), { domain: 'evil.example' })
    const foreign = { ...(await proofOf(world, newWallet())), signature: (await proofOf(world, wallet)).signature }
    const late = await proofOf(world, newWallet(), { expirationTime: new Date(Date.now() - 1_000) })
    for (const bad of [elsewhere, foreign, late]) {
      const { status, body } = await linkBy(ann, bad)
      expect([status, body['code']]).toEqual([401, 'wallet_refused'])
    }
    expect(await listed(ann)).toEqual([wallet.address])
  })

  it('cannot be taken from another account, whether signed up with or connected', async () => {
    const [ann, bob] = [await signUp(), await signIn(newWallet())]
    const [own, connected] = [newWallet(), newWallet()]
    const owner = await signIn(own)
    expect((await link(bob, connected)).status).toBe(200)
    for (const wallet of [own, connected]) {
      const { status, body } = await link(ann, wallet)
      expect([status, body['code']]).toEqual([409, 'wallet_taken'])
      expect(body['error']).toMatch(/signs in to another account/)
    }
    expect(await listed(ann)).toEqual([])
    expect((await signIn(own)).id).toBe(owner.id)
    expect((await signIn(connected)).id).toBe(bob.id)
    // Nor can another account remove them.
    expect((await unlink(ann, connected.address)).status).toBe(404)
    expect(await listed(bob)).toContain(connected.address)
  })

  it('belong to one account when several connect or sign in with one concurrently', async () => {
    const everybody = await Promise.all(Array.from({ length: 4 }, () => signIn(newWallet())))
    const wallet = newWallet()
    const proofs = await Promise.all(Array.from({ length: 6 }, () => proofOf(world, wallet)))
    const [links, signIns] = [proofs.slice(0, 4), proofs.slice(4)]
    const [answers, entered] = await Promise.all([
      Promise.all(links.map((proof, place) => linkBy(everybody[place]!, proof))),
      Promise.all(signIns.map((proof) => post(world, '/siwe/verify', proof))),
    ])
    expect(entered.map(({ status }) => status)).toEqual([200, 200])
    const owner = (await signIn(wallet)).id
    for (const { body } of entered) expect((body['user'] as { id: string }).id).toBe(owner)
    for (const [place, user] of everybody.entries()) {
      const isOwner = user.id === owner
      expect(answers[place]?.status).toBe(isOwner ? 200 : 409)
      expect((await listed(user)).includes(wallet.address)).toBe(isOwner)
    }
  })

  it('belong to the first account, also when two link one wallet concurrently', async () => {
    const [ann, bob] = [await signIn(newWallet()), await signIn(newWallet())]
    const wallet = newWallet()
    const proof = await proofOf(world, wallet)
    const answer = await world.database.another().statements.together(async (inside) => {
      await inside.run(
        `INSERT INTO signin_account (id, provider_id, account_id, user_id, created_at, updated_at)
         VALUES ('first', 'siwe', $1, $2, now(), now())`,
        [wallet.address, bob.id],
      )
      let isAnswered = false
      const second = linkBy(ann, proof).finally(() => (isAnswered = true))
      while (!isAnswered && !(await isOneWaiting())) await new Promise(setImmediate)
      return { second }
    })
    expect((await answer.second).body).toMatchObject({ code: 'wallet_taken' })
    expect(await listed(bob)).toContain(wallet.address)
    expect(await listed(ann)).not.toContain(wallet.address)
  })

  it('are at most ten, also for concurrent requests', async () => {
    const ann = await signUp()
    const proofs = await Promise.all(Array.from({ length: 12 }, () => proofOf(world, newWallet())))
    const answers = await Promise.all(proofs.map((proof) => linkBy(ann, proof)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(10).fill(200), 409, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body).toMatchObject({
      code: 'too_many_wallets',
      error: expect.stringMatching(/at most 10/) as string,
    })
    const wallets = await listed(ann)
    expect(wallets).toHaveLength(10)
    expect((await unlink(ann, wallets[0] ?? '')).status).toBe(200)
    expect((await link(ann, newWallet())).status).toBe(200)
  })

  it('can be removed by their owner; sessions stay, and the wallet can start a new account', async () => {
    const ann = await signUp()
    const wallet = newWallet()
    await link(ann, wallet)
    const byWallet = await signIn(wallet)
    expect((await unlink(ann, wallet.address.toLowerCase())).body).toEqual({ success: true })
    expect(await listed(byWallet)).toEqual([])
    const again = await unlink(ann, wallet.address)
    expect([again.status, again.body['code']]).toEqual([404, 'wallet_not_found'])
    expect((await unlink(ann, 'a wallet')).status).toBe(400)
    expect((await signIn(wallet)).id).not.toBe(ann.id)
  })

  it('cannot be removed if it is the last way to sign in, also concurrently', async () => {
    const wallet = newWallet()
    const owner = await signIn(wallet)
    expect(await listed(owner)).toEqual([wallet.address])
    const refused = await unlink(owner, wallet.address)
    expect([refused.status, refused.body['code']]).toEqual([409, 'last_way_in'])
    expect(refused.body['error']).toMatch(/only way to sign in to your account/)

    for (let round = 0; round < 5; round++) {
      const wallets = [newWallet(), newWallet()] as const
      const ann = await signIn(wallets[0])
      expect((await link(ann, wallets[1])).status).toBe(200)
      const answers = await Promise.all(wallets.map((one) => unlink({ ...ann, owner: by(one) }, one.address)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      expect(await listed(ann)).toHaveLength(1)
    }
  })

  it('are connected and removed only with the password or a fresh signature of a connected one, beside the session', async () => {
    const [own, thiefs, other] = [newWallet(), newWallet(), newWallet()]
    for (const user of [await signIn(own), await signUp()]) {
      const { headers } = user
      const needed = (await listed(user)).length === 0 ? 'invalid_password' : 'wallet_proof_required'
      const tried = async (owner?: object): Promise<unknown[]> => {
        const linked = await post(world, '/siwe/link', { ...(await proofOf(world, thiefs)), owner }, headers)
        const removed = await post(world, '/siwe/unlink', { address: own.address, owner }, headers)
        return [linked.body['code'], removed.body['code']]
      }
      expect(await tried()).toEqual([needed, needed])
      expect(await tried({ password: 'not this one at all' })).toEqual([needed, needed])
    }
    const ann = await signIn(own)
    const byOther = { address: own.address, owner: await by(other)() }
    expect((await post(world, '/siwe/unlink', byOther, ann.headers)).body['code']).toBe('wallet_proof_required')
    const proof = await by(own)()
    expect((await linkBy({ ...ann, owner: () => Promise.resolve(proof) }, await proofOf(world, thiefs))).status).toBe(
      200,
    )
    const again = await post(world, '/siwe/unlink', { address: own.address, owner: proof }, ann.headers)
    expect([again.status, again.body['code']]).toEqual([401, 'nonce_unknown'])
  })

  it('name the account after the remaining one, and free the removed one for another account', async () => {
    const [first, second] = [newWallet(), newWallet()]
    const owner = await signIn(first)
    expect((await link(owner, second)).status).toBe(200)
    expect((await unlink(owner, first.address)).status).toBe(200)
    const { body } = await get(world, 'get-session', owner.headers)
    const standIn = `${second.address.toLowerCase()}@wallet.invalid`
    expect(body['user']).toMatchObject({ id: owner.id, name: second.address, email: standIn })
    expect((await signIn(second)).id).toBe(owner.id)
    // Its stand-in address is free again: the wallet can start a new account, and can't be connected here any more.
    const anew = await signIn(first)
    expect(anew.id).not.toBe(owner.id)
    expect((await link({ ...owner, owner: by(second) }, first)).status).toBe(409)
    expect(await listed(anew)).toEqual([first.address])
  })

  it('can all be removed where the configured provider signs the account in', async () => {
    const ann = await signUp()
    const wallet = newWallet()
    await link(ann, wallet)
    // As if they had never chosen a password.
    await world.database.statements.run(
      `DELETE FROM signin_account WHERE user_id = $1 AND provider_id = 'credential'`,
      [ann.id],
    )
    await world.database.statements.run(
      `INSERT INTO signin_account (id, provider_id, account_id, user_id, created_at, updated_at)
       VALUES ('provided', 'oidc', 'https://issuer.example ann', $1, now(), now())`,
      [ann.id],
    )
    for (const [issuer, answer] of [
      [null, 'last'],
      ['https://issuer.exam', 'last'],
      ['https://issuer.example', 'gone'],
    ] as const) {
      const store = createWalletStore(world.database.statements, issuer, () => Promise.resolve())
      expect(await store.disconnect(ann.id, wallet.address, new Date())).toBe(answer)
    }
  })
})

interface TestUser {
  id: string
  headers: { authorization: string }
  /** Shows that the account is theirs. */
  owner: () => Promise<{ password: string } | { wallet: Proof }>
}

function newWallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

function bearer(body: Record<string, unknown>): { authorization: string } {
  return { authorization: `Bearer ${String(body['token'])}` }
}
