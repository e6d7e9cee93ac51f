import { testService } from '../../harness/service.ts'

test('POST /wallet/withdraw → 401: nobody is asking', async () => {
  const service = await testService()
  const { status } = await service.call('POST', '/v1/wallet/withdraw', {
    body: { amount: 5, to: `0x${'ab'.repeat(20)}` },
  })
  expect(status).toBe(401)
  await service.close()
})
