import { readFileSync, writeFileSync } from 'node:fs'
import { pythonTypesOf, syncOf } from '../../service/client/describe-python.mjs'
import { typesOf } from '../../service/client/describe-types.mjs'
import { testService } from '../harness/service.ts'

const PYTHON = 'service/client/python/coinslot'

/** `UPDATE_CLIENT=true npm test -- test/client/types` writes the types after a change of the API. */
it("the clients' types are those of the API's own description", async () => {
  const service = await testService()
  const described = (await service.call('GET', '/openapi.json')).body as Record<string, unknown>
  await service.close()
  const written = {
    'service/client/api.ts': typesOf(described),
    [`${PYTHON}/api.py`]: pythonTypesOf(described),
    [`${PYTHON}/client.py`]: syncOf(readFileSync(`${PYTHON}/aio.py`, 'utf8')),
  }
  for (const [file, text] of Object.entries(written)) {
    if (process.env['UPDATE_CLIENT'] === 'true') writeFileSync(file, text)
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})
