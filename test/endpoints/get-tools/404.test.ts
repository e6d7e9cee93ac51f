import { testService, type TestService } from '../../harness/service.ts'
import { importRequest } from '../../tools/catalogue-world.ts'
import { PETS, petDocument } from '../../tools/documents.ts'

describe('GET /tools/{slug} → 404, 410', () => {
  let service: TestService

  beforeAll(async () => {
    service = await testService()
    await service.catalogue.importDocument(importRequest('pets'), petDocument(PETS))
    const renamed = {
      ...PETS,
      '/pets/{id}': { ...PETS['/pets/{id}'], get: { ...PETS['/pets/{id}'].get, operationId: 'fetchPet' } },
    }
    const left = { '/pets/{id}': renamed['/pets/{id}'] }
    await service.catalogue.importDocument(importRequest('pets'), petDocument(left))
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    'nothing-like-it',
    'constructor',
    '__proto__',
    'PETS-GET-PET',
    'pets-get-pet%20',
    '%01',
    'a'.repeat(5_000),
  ])('a slug that no tool has: %s', async (slug) => {
    const { status, body } = await service.call('GET', `/tools/${slug}`)
    expect([status, body.code]).toEqual([404, 'tool_not_found'])
  })

  test("another account's own tool answers 404 and is not suggested", async () => {
    const [ann, ben] = [await service.person(), await service.person()]
    await service.catalogue.importDocument(importRequest('own', { ownerId: ann.caller.user.id }), petDocument(PETS))
    for (const slug of ['own-get-pet', 'own-get-pat']) {
      const { status, body } = await ben.call('GET', `/tools/${slug}`)
      expect([status, body.code, body.didYouMean]).toEqual([404, 'tool_not_found', null])
    }
    expect((await ann.call('GET', '/tools/own-get-pat')).body.didYouMean).toBe('own-get-pet')
  })

  test('a mistyped slug gets a suggestion', async () => {
    const { body } = await service.call('GET', '/tools/pets-fetch-pte')
    expect(body).toMatchObject({
      error: expect.stringMatching(/ Did you mean pets-fetch-pet\?$/),
      didYouMean: 'pets-fetch-pet',
    })
  })

  test('a collection that is not there', async () => {
    const { status, body } = await service.call('GET', '/tools?collection=none')
    expect([status, body.code]).toEqual([404, 'collection_not_found'])
  })

  test('a removed tool answers 410, with its successor where that is known', async () => {
    const { status, body } = await service.call('GET', '/tools/pets-get-pet')
    expect([status, body.code, body.successor]).toEqual([410, 'tool_removed', 'pets-fetch-pet'])
    expect((await service.call('GET', '/tools/pets-list-pets')).body).toMatchObject({
      code: 'tool_removed',
      successor: null,
    })
  })
})
