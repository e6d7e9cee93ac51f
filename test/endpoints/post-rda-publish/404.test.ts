import { ALLOWED, promptBody } from '../../marketplace/bodies.ts'
import { testService } from '../../harness/service.ts'

test("POST /rda/{identifier}/{action} → 404 for another's, 401 without authentication; nothing happens", async () => {
  const service = await testService(ALLOWED)
  const creator = await service.person()
  const other = await service.person()
  const body = promptBody()
  const path = `/v1/rda/${String(body['slug'])}`
  await creator.call('POST', '/v1/rda', { body })
  for (const action of ['publish', 'unpublish', 'archive']) {
    expect((await other.call('POST', `${path}/${action}`)).status).toBe(404)
    expect((await other.call('POST', `/v1/rda/no-such-asset/${action}`)).status).toBe(404)
    expect((await service.call('POST', `${path}/${action}`)).status).toBe(401)
  }
  expect((await creator.call('GET', path)).body.rda.status).toBe('draft')
  await service.close()
})
