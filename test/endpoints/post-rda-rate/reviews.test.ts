import { ALLOWED, promptBody, published, run } from '../../marketplace/bodies.ts'
import { testService, type Answer, type TestPerson, type TestService } from '../../harness/service.ts'

interface ReviewsView {
  reviews: { id: string; text: string; reply: string | null }[]
  next: string | null
}

describe('POST /rda/{identifier}/rate with a text: a review', () => {
  let service: TestService
  let creator: TestPerson
  let slug: string
  beforeAll(async () => {
    service = await testService({ ...ALLOWED, RATE_API_PER_MINUTE: '0' })
    creator = await service.person()
    slug = await published(creator)
  })
  afterAll(() => service.close())

  const review = (person: TestPerson, text: string | null, of = slug): Promise<Answer> =>
    person.call('POST', `/v1/rda/${of}/rate`, { body: { score: 4, text } })
  const buyer = async (of = slug): Promise<TestPerson> => {
    const person = await service.person()
    await run(person, of)
    return person
  }
  const shown = async (input: object = {}, of = slug): Promise<ReviewsView> => {
    const query = encodeURIComponent(JSON.stringify({ id: of, ...input }))
    return (await service.call('GET', `/trpc/market.reviews?input=${query}`)).body.result.data as ReviewsView
  }
  const reply = (person: TestPerson, body: object): Promise<Answer> =>
    person.call('POST', '/trpc/assets.reply', { body: { id: slug, text: 'Thanks.', ...body } })

  test('is public, newest first and in pages, without its author', async () => {
    const people = [await buyer(), await buyer(), await buyer()]
    for (const [at, person] of people.entries()) {
      service.clock.forward(1_000)
      expect((await review(person, ` Good ${String(at)}\n`)).status).toBe(200)
    }
    const first = await shown({ limit: 2 })
    expect(first.reviews.map(({ text }) => text)).toEqual(['Good 2', 'Good 1'])
    const last = await shown({ limit: 2, before: first.next })
    expect([last.reviews.map(({ text }) => text), last.next]).toEqual([['Good 0'], null])
    const { text } = await service.call('GET', `/marketplace/${slug}`, { headers: { accept: 'text/html' } })
    expect(text).toContain('4 of 5: Good 2')
    expect(text).toContain('"reviewBody":"Good 2"')
    expect(Object.keys(first.reviews[0]!).sort()).toEqual(
      ['createdAt', 'id', 'repliedAt', 'reply', 'score', 'text'].sort(),
    )
  })

  test('is listed at /rda/{identifier}/reviews for everyone, and its creator alone answers it there, once', async () => {
    const of = await published(creator)
    for (const text of ['First', 'Second']) {
      service.clock.forward(1_000)
      expect((await review(await buyer(of), text, of)).status).toBe(200)
    }
    const address = `/v1/rda/${of}/reviews`
    const first = await service.call('GET', `${address}?limit=1`)
    expect(first.body.reviews).toEqual([
      { id: expect.any(String), score: 4, text: 'Second', createdAt: expect.any(String), reply: null, repliedAt: null },
    ])
    const rest = await service.call('GET', `${address}?limit=1&before=${String(first.body.next)}`)
    expect([rest.body.reviews[0].text, rest.body.next]).toEqual(['First', null])
    expect((await service.call('GET', `${address}?before=none`)).status).toBe(400)
    expect((await service.call('GET', '/v1/rda/nothing-here/reviews')).status).toBe(404)

    const id = String(first.body.reviews[0].id)
    const answer = (person: TestPerson, body: object = { text: 'Thank you.' }, which = id) =>
      person.call('POST', `${address}/${which}/reply`, { body })
    expect((await answer(await service.person())).status).toBe(404)
    expect((await answer(creator, { text: ' ' })).status).toBe(400)
    expect((await answer(creator, undefined, 'op_none')).status).toBe(404)
    expect((await answer(creator)).body).toEqual({ replied: true })
    expect((await answer(creator)).body.code).toBe('review_answered')
    expect((await service.call('GET', address)).body.reviews[0]).toMatchObject({
      reply: 'Thank you.',
      repliedAt: expect.any(String),
    })
  })

  test('a rating alone is no review; a text is one to 1,000 characters', async () => {
    const before = (await shown()).reviews.length
    expect((await review(await buyer(), null)).status).toBe(200)
    for (const text of ['', '   ', 'x'.repeat(1_001), 'a\u0000b']) {
      const answer = await review(await buyer(), text)
      expect([answer.status, Object.keys(answer.body.details as object)]).toEqual([400, ['text']])
    }
    expect((await shown()).reviews).toHaveLength(before)
    expect((await review(await buyer(), '€'.repeat(1_000))).status).toBe(200)
  })

  test('is refused for a free asset, which can be rated only', async () => {
    const free = await published(creator, promptBody({ pricing: { model: 'free', amount: 0, currency: 'USDC' } }))
    await creator.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const person = await buyer(free)
    const answer = await review(person, 'Lovely', free)
    expect([answer.status, answer.body.code]).toEqual([403, 'review_needs_payment'])
    expect((await review(person, null, free)).status).toBe(200)
    expect((await shown({}, free)).reviews).toEqual([])
  })

  test('only the creator can reply, once; of two concurrent replies one is published', async () => {
    const id = (await shown({ limit: 1 })).reviews[0]!.id
    const stranger = await reply(await service.person(), { review: id })
    expect(stranger.body.error.data).toMatchObject({ httpStatus: 404, code: 'NOT_FOUND' })
    const both = await Promise.all([reply(creator, { review: id }), reply(creator, { review: id, text: 'Bah.' })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const other = await published(creator)
    for (const wrong of [{ review: 'op_none' }, { review: id, id: other }]) {
      expect((await reply(creator, wrong)).status).toBe(404)
    }
    expect((await shown({ limit: 1 })).reviews[0]!.reply).toMatch(/^(Thanks|Bah)\.$/)
  })

  test('the operator hides a review with its answer; the score stays', async () => {
    const { reviews } = await shown()
    const stats = async () => (await service.call('GET', `/v1/rda/${slug}`)).body.rda.stats.totalRatings as number
    const before = await stats()
    expect(await service.assets.hideReview(reviews[0]!.id)).toBe(true)
    expect(await service.assets.hideReview('op_none')).toBe(false)
    expect((await shown()).reviews.map(({ id }) => id)).toEqual(reviews.slice(1).map(({ id }) => id))
    expect(await stats()).toBe(before)
    expect((await reply(creator, { review: reviews[0]!.id })).status).toBe(404)
  })

  test('an account writes twenty in a day, and rates beyond that', async () => {
    const person = await service.person()
    for (let written = 0; written < 20; written++) {
      const of = await published(creator)
      await run(person, of)
      expect((await review(person, 'Again good', of)).status).toBe(200)
    }
    const of = await published(creator)
    await run(person, of)
    const more = await review(person, 'One more', of)
    expect([more.status, more.body.code]).toEqual([429, 'review_limit'])
    service.clock.forward(86_400_001)
    expect((await review(person, 'A day later', of)).status).toBe(200)
  })

  test('is not readable for an unpublished asset', async () => {
    const { rda } = (await creator.call('POST', '/v1/rda', { body: promptBody() })).body
    const query = encodeURIComponent(JSON.stringify({ id: rda.slug }))
    expect((await service.call('GET', `/trpc/market.reviews?input=${query}`)).status).toBe(404)
    expect(
      (
        await service.call(
          'GET',
          `/trpc/market.reviews?input=${encodeURIComponent(JSON.stringify({ id: slug, before: 'x' }))}`,
        )
      ).status,
    ).toBe(400)
  })
})
