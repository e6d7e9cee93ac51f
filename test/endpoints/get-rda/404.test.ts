import { randomBytes } from 'node:crypto'
import { ALLOWED, promptBody, published } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

describe('GET /rda/{identifier} → 404', () => {
  test("an unknown asset and another account's draft look the same", async () => {
    const service = await testService(ALLOWED)
    const creator = await service.person()
    const other = await service.person()
    const body = promptBody()
    const { rda } = (await creator.call('POST', '/v1/rda', { body })).body
    const bodies = []
    for (const identifier of [
      'no-such-asset',
      'rda_01jd0000000000000000000000',
      String(body['slug']),
      rda.id as string,
    ]) {
      const answer = await other.call('GET', `/v1/rda/${identifier}`)
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 404, code: 'rda_not_found' })
      bodies.push({ ...answer.body, requestId: null })
    }
    expect(new Set(bodies.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(bodies[0]).toMatchObject({ error: 'There is no such marketplace asset.', didYouMean: null })
    expect((await service.call('GET', '/v1/rda/no-such-asset')).status).toBe(404)
    await published(creator, promptBody({ slug: 'seo-audit' }))
    expect((await other.call('GET', '/v1/rda/seo-adit')).body).toMatchObject({
      error: 'There is no such marketplace asset. Did you mean seo-audit?',
      didYouMean: 'seo-audit',
    })
    await service.close()
  })

  test('each environment has its own slugs, and callers without a key see production', async () => {
    const service = await testService({
      ...ALLOWED,
      LIVE: 'true',
      AUTH_SECRET: 'a'.repeat(40),
      VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    })
    const inSandbox = await service.person()
    const inProduction = await service.person({ environment: 'production' })
    const config = { apiEndpoint: 'http://127.0.0.1:9/' }
    const body = promptBody({ type: 'tool', promptConfig: null, toolConfig: config })
    const slug = await published(inSandbox, body)
    expect((await inSandbox.call('GET', `/v1/rda/${slug}`)).status).toBe(200)
    expect((await inProduction.call('GET', `/v1/rda/${slug}`)).status).toBe(404)
    expect((await service.call('GET', `/v1/rda/${slug}`)).status).toBe(404)
    await published(inProduction, { ...body, name: 'The real one' })
    expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.name).toBe('The real one')
    expect((await inSandbox.call('GET', `/v1/rda/${slug}`)).body.rda.name).toBe('Summarizer')
    await service.close()
  })
})
