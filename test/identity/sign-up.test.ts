import { BUILT_IN_ISSUER } from '../../service/identity/model.ts'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { createIdentityStore, createSignUpCredits } from '../../service/identity/store.ts'
import { fromAddress } from '../../service/identity/service/sign-up.ts'
import { createSignUp } from '../../service/identity/service/sign-up.ts'
import { grantsOf, openWorld, newPerson, type World } from './world.ts'

describe('the sign-up', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  describe('signing up', () => {
    it('creates both wallets and the sandbox credits', async () => {
      const { user, created } = await world.identity.signUp(newPerson('ann', { email: 'ann@example.com', name: 'Ann' }))
      expect(created).toBe(true)
      expect(user).toMatchObject({ subject: 'ann', email: 'ann@example.com', name: 'Ann', emailConfirmed: false })
      expect(await world.ledger.wallet({ userId: user.id, environment: 'sandbox' })).not.toBeNull()
      expect(await world.ledger.wallet({ userId: user.id, environment: 'production' })).not.toBeNull()
      expect(await grantsOf(world, user.id)).toEqual([5, 0])
    })

    it('grants the production credits when the address is confirmed, once', async () => {
      const { user } = await world.identity.signUp(newPerson('ben', { email: 'ben@example.com' }))
      const confirmed = newPerson('ben', { email: 'ben@example.com', emailConfirmed: true })
      await Promise.all(Array.from({ length: 10 }, () => world.identity.signUp(confirmed)))
      expect(await grantsOf(world, user.id)).toEqual([5, 5])
    })

    it('makes one user with one grant of fifty concurrent sign-ups', async () => {
      const person = newPerson('crowd', { email: 'crowd@example.com', emailConfirmed: true })
      const answers = await Promise.all(Array.from({ length: 50 }, () => world.identity.signUp(person)))
      expect(new Set(answers.map(({ user }) => user.id)).size).toBe(1)
      expect(answers.filter(({ created }) => created)).toHaveLength(1)
      expect(await grantsOf(world, answers[0]!.user.id)).toEqual([5, 5])
    })

    it('creates one user also for built-in accounts, whose rows collide on two indexes', async () => {
      for (let round = 0; round < 100; round++) {
        const person = newPerson(newId('usr', world.clock.now()), { issuer: BUILT_IN_ISSUER })
        const answers = await Promise.all(Array.from({ length: 10 }, () => world.identity.signUp(person)))
        expect(answers.filter(({ created }) => created)).toHaveLength(1)
      }
    })

    it('keeps the same subject of two issuers apart, also with one e-mail address', async () => {
      const one = await world.identity.signUp(newPerson('same', { email: 'same@example.com', emailConfirmed: true }))
      const other = await world.identity.signUp({
        ...newPerson('same', { email: 'same@example.com' }),
        issuer: 'https://other.example',
      })
      expect(other.created).toBe(true)
      expect(other.user.id).not.toBe(one.user.id)
      expect(await grantsOf(world, other.user.id)).toEqual([5, 0])
    })

    it('leaves nothing behind when it is interrupted at any step, and completes the next time', async () => {
      const store = createIdentityStore(world.database)
      const steps = ['openAccounts', 'credit', 'markGranted', 'commit'] as const
      for (const step of steps) {
        const person = newPerson(`cut-${step}`, { email: 'cut@example.com', emailConfirmed: true })
        const cut = () => Promise.reject(new Error(`cut at ${step}`))
        const signUp = createSignUp({
          clock: world.clock,
          credits: usdc(5_000_000n),
          grantBounds: { perDomain: 1_000_000, perAddress: 1_000_000 },
          announceConfirmation: async () => undefined,
          ledger: { ...world.ledger, ...(step === 'openAccounts' || step === 'credit' ? { [step]: cut } : {}) },
          store: {
            ...store,
            ...(step === 'markGranted' ? { markGranted: cut } : {}),
            inTransaction: (work) =>
              store.inTransaction(async (inside) => {
                const done = await work(inside)
                return step === 'commit' ? await cut() : done
              }),
          },
        })
        await expect(signUp(person)).rejects.toThrow(`cut at ${step}`)
        expect(await store.findUser(person.issuer, person.subject)).toBeNull()

        const { user, created } = await world.identity.signUp(person)
        expect(created).toBe(true)
        expect(await grantsOf(world, user.id)).toEqual([5, 5])
      }
    })

    it('keeps fields that a later token omits, and updates those it has', async () => {
      await world.identity.signUp(newPerson('dora', { name: 'Dora', email: 'dora@example.com', emailConfirmed: true }))
      const silent = await world.identity.signUp(newPerson('dora'))
      expect(silent.user).toMatchObject({ name: 'Dora', email: 'dora@example.com', emailConfirmed: true })
      const renamed = await world.identity.signUp(newPerson('dora', { name: 'D.', email: 'd@example.com' }))
      expect(renamed.user).toMatchObject({ name: 'D.', email: 'd@example.com', emailConfirmed: false })
    })

    it('sums up: the ledger agrees with itself', async () => {
      expect(await world.ledger.differences()).toEqual([])
    })
  })

  describe('right after the start', () => {
    it('serves more concurrent sign-ups than there are connections', async () => {
      const fresh = await openWorld({ poolMax: 3 })
      try {
        const people = Array.from({ length: 24 }, (_, place) => newPerson(`new-${String(place)}`))
        const answers = await Promise.all(people.map((person) => fresh.identity.signUp(person)))
        expect(new Set(answers.map(({ user }) => user.id)).size).toBe(24)
      } finally {
        await fresh.close()
      }
    })
  })

  describe('a day’s bounds of free credits', () => {
    const bounded = (perDomain: number, perAddress: number) =>
      createSignUp({
        store: createIdentityStore(world.database),
        ledger: world.ledger,
        clock: world.clock,
        credits: usdc(5_000_000n),
        grantBounds: { perDomain, perAddress },
        announceConfirmation: async () => undefined,
      })
    const grants = async (signUp: ReturnType<typeof createSignUp>, name: string, email: string): Promise<number> => {
      const { user } = await signUp(newPerson(name, { email, emailConfirmed: true }))
      return (await grantsOf(world, user.id))[1] ?? -1
    }

    it('hold for a domain and its subdomains, for concurrent sign-ups, and not for large providers', async () => {
      const signUp = bounded(3, 1_000)
      const attempts = Array.from({ length: 8 }, (_, at) =>
        grants(signUp, `farm-${String(at)}`, `a${String(at)}@m${String(at)}.Farm.example`),
      )
      expect((await Promise.all(attempts)).sort()).toEqual([0, 0, 0, 0, 0, 5, 5, 5])
      const large = Array.from({ length: 5 }, (_, at) =>
        fromAddress('198.51.100.7', () => grants(signUp, `large-${String(at)}`, `a${String(at)}@gmail.com`)),
      )
      expect(await Promise.all(large)).toEqual([5, 5, 5, 5, 5])
      // Sign-ups from an unknown address count together.
      const hidden = Array.from({ length: 5 }, (_, at) =>
        grants(signUp, `hidden-${String(at)}`, `h${String(at)}@gmail.com`),
      )
      expect((await Promise.all(hidden)).sort()).toEqual([0, 0, 5, 5, 5])
      const { user } = await signUp(newPerson('farm-late', { email: 'late@farm.example', emailConfirmed: true }))
      expect(await grantsOf(world, user.id)).toEqual([5, 0])
      expect(await createSignUpCredits(world.database.statements).areWithheld(user.id)).toBe(true)
      // The next day has a new limit; grants that were held back do not come by asking again.
      world.clock.forward(86_400_000)
      expect(await grants(signUp, 'farm-late', 'late@farm.example')).toBe(0)
      expect(await grants(signUp, 'farm-next', 'next@farm.example')).toBe(5)
    })

    it('hold for a caller’s address; its refused grants do not count for the domain', async () => {
      const signUp = bounded(3, 1)
      const at = (address: string, name: string): Promise<number> =>
        fromAddress(address, () => grants(signUp, name, `${name}@office.example`))
      expect(await at('203.0.113.7', 'desk-1')).toBe(5)
      expect(await at('203.0.113.7', 'desk-2')).toBe(0)
      expect(await at('203.0.113.7', 'desk-3')).toBe(0)
      expect(await at('2001:db8::1', 'desk-4')).toBe(5)
      expect(await at('2001:db8::2', 'desk-5')).toBe(0)
      expect(await at('203.0.113.8', 'desk-6')).toBe(5)
      expect(await at('203.0.113.9', 'desk-7')).toBe(0)
    })
  })

  describe('without free credits', () => {
    it('signs up, and a later setting grants nothing to existing accounts', async () => {
      const poor = await openWorld({ credits: usdc(0n) })
      try {
        const { user } = await poor.identity.signUp(newPerson('eve', { email: 'e@example.com', emailConfirmed: true }))
        expect(await grantsOf(poor, user.id)).toEqual([0, 0])
        const rich = createSignUp({
          store: createIdentityStore(poor.database),
          ledger: poor.ledger,
          clock: poor.clock,
          credits: usdc(5_000_000n),
          grantBounds: { perDomain: 1_000_000, perAddress: 1_000_000 },
          announceConfirmation: async () => undefined,
        })
        await rich(newPerson('eve', { name: 'Eve', email: 'e@example.com', emailConfirmed: true }))
        expect(await grantsOf(poor, user.id)).toEqual([0, 0])
      } finally {
        await poor.close()
      }
    })
  })
})
