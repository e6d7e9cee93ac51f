import { randomBytes } from 'node:crypto'
import { testService } from '../../harness/service.ts'

test('GET /models → 200: the echo model in the sandbox, the catalogue in production', async () => {
  const service = await testService({
    LIVE: 'true',
    AUTH_SECRET: 'a'.repeat(40),
    VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    MODELS_BASE_URL: 'http://127.0.0.1:9/v1',
  })
  const inSandbox = await service.person()
  const { status, body } = await inSandbox.call('GET', '/v1/models')
  expect(status).toBe(200)
  expect(body).toEqual({
    models: [
      {
        id: 'sandbox/echo',
        name: expect.any(String),
        tier: 'fast',
        pricing: { input: expect.any(Number), output: expect.any(Number), currency: 'USDC', per: 1_000_000 },
      },
    ],
  })
  const all = (await service.call('GET', '/v1/models')).body.models as { id: string; tier: string }[]
  expect(new Set(all.map(({ tier }) => tier))).toEqual(new Set(['fast', 'balanced', 'reasoning']))
  expect(all.map(({ id }) => id)).not.toContain('sandbox/echo')
  await service.close()
})
