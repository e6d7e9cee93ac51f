import { readFileSync, writeFileSync } from 'node:fs'
import { typesOf } from '../../service/client/describe-types.mjs'
import { testService } from '../harness/service.ts'

const FILE = 'service/client/api.ts'

/** `UPDATE_CLIENT=true npm test -- test/client/types` writes the types after a change of the API. */
it("the client's types are those of the API's own description", async () => {
  const service = await testService()
  const described = typesOf((await service.call('GET', '/openapi.json')).body as Record<string, unknown>)
  await service.close()
  if (process.env['UPDATE_CLIENT'] === 'true') writeFileSync(FILE, described)
  expect(readFileSync(FILE, 'utf8')).toBe(described)
})
