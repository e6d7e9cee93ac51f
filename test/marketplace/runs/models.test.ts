import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createModels } from '../../../service/models/models.ts'
import { piece, stream, Vendor } from './vendor.ts'

describe('models', () => {
  const vendor = new Vendor()
  let models: ReturnType<typeof createModels>

  beforeAll(async () => {
    models = createModels({
      baseUrl: await vendor.listen(),
      apiKey: 'sk-operator',
      file: undefined,
    })
  })
  afterAll(async () => {
    await vendor.close()
  })

  function complete(signal = new AbortController().signal, id = 'gpt-4o-mini') {
    const model = models.find('production', id)!
    return models.complete({ model, system: 'Be brief.', prompt: 'Hello', signal })
  }

  test('are only echo in the sandbox, and those of the catalogue in production', () => {
    expect(models.list('sandbox').map(({ id }) => id)).toEqual(['sandbox/echo'])
    expect(models.find('sandbox', 'gpt-4o-mini')).toBeNull()
    expect(models.find('production', 'sandbox/echo')).toBeNull()
    expect(models.find('production', 'gpt-4o-mini')).toMatchObject({ tier: 'fast', inputPrice: 150_000n })
    expect(createModels({ baseUrl: undefined, apiKey: undefined, file: undefined }).list('production')).toEqual([])
  })

  test('an answer is streamed and put together, with the usage that the vendor counted', async () => {
    vendor.answer = (response) =>
      stream(response, [
        piece('Good '),
        piece('day', 'stop'),
        { choices: [], usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 } },
      ])
    expect(await complete()).toEqual({ text: 'Good day', usage: { promptTokens: 11, completionTokens: 3 } })
    expect(vendor.requests.at(-1)).toMatchObject({
      headers: { authorization: 'Bearer sk-operator' },
      body: {
        model: 'gpt-4o-mini',
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 4096,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
      },
    })
  })

  test('a vendor that counts nothing is counted', async () => {
    vendor.answer = (response) => stream(response, [piece('Good day', 'stop')])
    expect((await complete()).usage).toEqual({ promptTokens: 4, completionTokens: 2 })
  })

  test('a reasoning model is limited by the other name', async () => {
    vendor.answer = (response) => stream(response, [piece('ok', 'stop')])
    await complete(undefined, 'o4-mini')
    expect(vendor.requests.at(-1)!.body).toMatchObject({ max_completion_tokens: 16_384 })
    expect(vendor.requests.at(-1)!.body).not.toHaveProperty('max_tokens')
  })

  test('an abort closes the connection in the middle, which stops the spending', async () => {
    const controller = new AbortController()
    const before = vendor.closed
    vendor.answer = (response) => {
      stream(response, [piece('Goo')], false)
      controller.abort(new Error('canceled'))
    }
    await expect(complete(controller.signal)).rejects.toThrow()
    while (vendor.closed === before) await new Promise(setImmediate)
  })

  test.each([
    [429, 'model_busy'],
    [400, 'model_refused'],
    [401, 'model_unavailable'],
    [500, 'model_unavailable'],
  ])('a vendor that answers %d is called once, and its error text stays hidden', async (status, code) => {
    const before = vendor.requests.length
    vendor.answer = (response) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end('{"error":{"message":"org-secret over quota"}}')
    const error = (await complete().catch((thrown: unknown) => thrown)) as {
      failure: { code: string; sentence: string }
    }
    expect(error.failure.code).toBe(code)
    expect(error.failure.sentence).not.toContain('secret')
    expect(vendor.requests.length - before).toBe(1)
  })

  test('an interrupted answer is a failure', async () => {
    vendor.answer = (response) => stream(response, [piece('half an ans')])
    await expect(complete()).rejects.toMatchObject({ failure: { code: 'model_interrupted' } })
  })

  test('tokens of pathological texts are counted', async () => {
    await models.countTokens('warm')
    expect(await models.countTokens('a'.repeat(200_000))).toBeGreaterThan(1_000)
    expect(await models.countTokens(' '.repeat(200_000))).toBeGreaterThan(100)
  })

  test("the operator's own catalogue; a faulty one stops the start", () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'coinslot-models-')), 'models.json')
    const line = { id: 'own/large', name: 'Own', tier: 'balanced', inputPrice: 1.5, outputPrice: 6 }
    writeFileSync(file, JSON.stringify({ models: [line] }))
    const options = { baseUrl: 'http://127.0.0.1:9', apiKey: undefined }
    expect(createModels({ ...options, file }).list('production')).toEqual([
      { ...line, inputPrice: 1_500_000n, outputPrice: 6_000_000n, outputTokensMax: 4_096 },
    ])
    writeFileSync(file, JSON.stringify({ models: [{ ...line, tier: 'huge' }, line, line] }))
    expect(() => createModels({ ...options, file })).toThrow(/MODELS_FILE models.0.tier/)
    expect(() => createModels({ ...options, file: '/nowhere.json' })).toThrow(/not a file of JSON/)
  })
})
