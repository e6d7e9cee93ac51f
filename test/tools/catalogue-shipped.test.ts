import { usdc } from '../../service/kit/money.ts'
import { importShipped, shippedImport } from '../../service/wiring/tools-shipped.ts'
import { sample } from 'openapi-sampler'
import { plausible } from '../../service/openapi/plausible.ts'
import { SHIPPED, shippedText } from '../../service/openapi/shipped.ts'
import type { Tool } from '../../service/tools/model/tool.ts'
import { newAjv } from './ajv.ts'
import { catalogueWorld, type CatalogueWorld } from './catalogue-world.ts'

describe('The catalogue that comes with the sandbox', () => {
  let world: CatalogueWorld
  const tools: Tool[] = []
  const ajv = newAjv()

  beforeAll(async () => {
    world = await catalogueWorld()
    await importShipped(world.catalogue, 'sandbox')
    for (let offset = 0; ; offset += 100) {
      const page = await world.catalogue.list({ environment: 'sandbox', viewer: null, limit: 100, offset })
      tools.push(...page.tools.map(({ tool }) => tool))
      if (page.tools.length < 100) break
    }
  })
  afterAll(async () => {
    await world.close()
  })

  test('has more than a thousand tools of at least three documents', () => {
    expect(tools.length).toBeGreaterThan(1_800)
    expect(new Set(tools.map(({ provider }) => provider))).toEqual(new Set(SHIPPED.map(({ slug }) => slug)))
  })

  test('is listed whole with a large limit', async () => {
    const { tools: listed } = await world.catalogue.list({
      environment: 'sandbox',
      viewer: null,
      limit: 10_000,
      offset: 0,
    })
    expect(listed.map(({ tool }) => tool.slug)).toEqual(tools.map(({ slug }) => slug))
  })

  test('answers each of them with an example that fits its own output schema and looks real', () => {
    const wrong: string[] = []
    let checked = 0
    // Many tools of a provider answer with the same schema.
    const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
    for (const tool of tools) {
      const { status, contentType, body } = world.catalogue.simulate(tool, {})
      if (status < 200 || status > 299) wrong.push(`${tool.slug}: ${String(status)}`)
      if (tool.output === null) continue
      checked++
      if (!contentType?.includes('json')) wrong.push(`${tool.slug}: ${String(contentType)}`)
      const schema = JSON.stringify(tool.output)
      const fits = compiled.get(schema) ?? ajv.compile(tool.output)
      compiled.set(schema, fits)
      // Where it is a value of an enumeration, it is a real one.
      if (body.toString().includes('"string"') && !/"enum":\[[^\]]*"string"/.test(schema))
        wrong.push(`${tool.slug}: "string"`)
      if (!fits(JSON.parse(body.toString()))) wrong.push(`${tool.slug}: ${ajv.errorsText(fits.errors)}`)
    }
    expect(wrong).toEqual([])
    expect(checked).toBeGreaterThan(1_300)
  })

  test('has no answer with the one value that stands for all others; with SAMPLES set it prints a hundred to be read', () => {
    const samples = Array.from({ length: 100 }, (_, place) => {
      const tool = tools[Math.floor(((place + 0.5) * tools.length) / 100)]!
      const given = plausible(tool.input, sample(tool.input, { quiet: true }), tool.slug)
      const { status, body } = world.catalogue.simulate(tool, given)
      return { slug: tool.slug, given: JSON.stringify(given), answer: `${String(status)} ${body.toString()}` }
    })
    const general = /"property[12]"|2019-08-24T14:15:22Z|497f6eca-6276-4993|"http:\/\/example\.com"/
    expect(samples.filter(({ answer }) => general.test(answer))).toEqual([])
    if (process.env['SAMPLES'] === undefined) return
    process.stdout.write(samples.map(({ slug, given, answer }) => `${slug} ${given}\n${answer}\n`).join('\n'))
  })

  test('marks each tool as simulated, with equal answers to equal inputs', async () => {
    const page = { environment: 'sandbox', viewer: null, limit: 10_000, offset: 0 } as const
    const listed = await world.catalogue.list(page)
    expect(listed.tools.filter(({ simulated }) => !simulated)).toEqual([])
    const [tool] = tools.filter(({ slug }) => slug === 'digitalocean-droplets-create')
    const answer = (input: unknown) => world.catalogue.simulate(tool!, input).body.toString()
    expect(answer({ name: 'web-1' })).toBe(answer({ name: 'web-1' }))
    expect(await world.catalogue.wasSimulated({ ...tool!, toolId: tool!.id })).toBe(true)
    expect(await world.catalogue.wasSimulated({ ...tool!, toolId: 'tool_of-another' })).toBe(false)
  })

  test('has input schemas that are flat and closed, and lead every input somewhere', () => {
    const wrong: string[] = []
    for (const { slug, input, upstream } of tools) {
      const names = Object.keys(input['properties'] as object)
      if (input['type'] !== 'object' || input['additionalProperties'] !== false) wrong.push(`${slug}: not closed`)
      if (upstream.kind !== 'http') wrong.push(`${slug}: ${upstream.kind}`)
      else if (names.join() !== Object.keys(upstream.where).join()) wrong.push(`${slug}: ${names.join()}`)
      if (names.some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))) wrong.push(`${slug}: ${names.join()}`)
    }
    expect(wrong).toEqual([])
  })

  test('has slugs and texts that clients of models take', () => {
    for (const { slug, name, description } of tools) {
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(slug.length).toBeLessThanOrEqual(64)
      expect(name).toMatch(/^\S.{0,119}$/)
      expect(description.length).toBeGreaterThan(3)
      expect(description.length).toBeLessThanOrEqual(900)
    }
  })

  test('is brought in once: the same again writes nothing', async () => {
    const before = await fingerprint()
    await importShipped(world.another(), 'sandbox')
    expect(await fingerprint()).toEqual(before)
  })

  test("is also in production: real calls, with the caller's connection, and as the operator left it", async () => {
    const environment = 'production' as const
    const shipped = (restores = false) => importShipped(world.catalogue, environment, { restores })
    const page = { environment, viewer: null, limit: 10_000, offset: 0 }
    await shipped()
    const { tools: listed, total } = await world.catalogue.list(page)
    expect(total).toBe(tools.length)
    expect(listed.filter(({ simulated }) => simulated)).toEqual([])
    const needsOf = (prefix: string) => listed.find(({ tool }) => tool.slug.startsWith(prefix))?.needs
    expect([needsOf('github-issues-create'), needsOf('wikimedia-get-metrics-pageviews-per-article')]).toEqual([
      'connection',
      'nothing',
    ])

    await world.catalogue.removeProvider(environment, null, 'box')
    const pricing = { bySlug: { 'github-issues-create': usdc(70_000n) } }
    await world.catalogue.importDocument(
      { ...shippedImport('github', environment), pricing },
      await shippedText('github'),
    )
    await shipped()
    const left = (await world.catalogue.list(page)).tools
    expect(left.some(({ tool }) => tool.provider === 'box')).toBe(false)
    expect(left.find(({ tool }) => tool.slug === 'github-issues-create')?.tool.price).toBe(70_000n)
    await shipped(true)
    expect((await world.catalogue.list(page)).total).toBe(tools.length)
  })

  test.each([
    ['create an issue on github', 'github-issues-create'],
    ['open a new ticket in a repository', 'github-issues-create'],
    ['merge a pull request', 'github-pulls-merge'],
    ['search code', 'github-search-code'],
    ['get the contents of a file in a repo', 'github-repos-get-content'],
    ['list my repositories', 'github-repos-list-for-authenticated-user'],
    ['cancel a workflow run', 'github-actions-cancel-workflow-run'],
    ['create a droplet', 'digitalocean-droplets-create'],
    ['start a new virtual machine', 'digitalocean-droplets-create'],
    ['list kubernetes clusters', 'digitalocean-kubernetes-list-clusters'],
    ['add a domain record', 'digitalocean-domains-create-record'],
    ['create a folder', 'box-post-folders'],
    ['get comments of a figma file', 'figma-get-comments'],
    ['astronomy picture of the day', 'nasa-get-apod'],
    ['page views of a wikipedia article', 'wikimedia-get-metrics-pageviews-per-article'],
  ])('finds for "%s" among the first three %s', async (query, slug) => {
    const { tools } = await world.catalogue.search({ environment: 'sandbox', viewer: null, query, limit: 3 })
    expect(tools.map(({ tool }) => tool.slug)).toContainEqual(expect.stringMatching(new RegExp(`^${slug}`)))
  })

  test.each(['order a pizza', 'write a poem', 'hack the planet', 'send an email', 'zebra'])(
    'finds nothing for "%s", and lists only weak matches as nearest',
    async (search) => {
      const at = { environment: 'sandbox', viewer: null, limit: 5, offset: 0 } as const
      const { tools, total, nearest } = await world.catalogue.list({ ...at, search })
      expect([tools, total]).toEqual([[], 0])
      expect(nearest.map(({ fit }) => fit! < 0.5)).toEqual(nearest.map(() => true))
    },
  )

  test('has collections of more than five tools, each listed in full', async () => {
    const collections = await world.catalogue.collections('sandbox', null)
    expect(collections.length).toBeGreaterThan(4)
    for (const { slug: collection, tools: size } of collections) {
      expect([collection, size > 5]).toEqual([collection, true])
      const { total } = await world.catalogue.list({
        environment: 'sandbox',
        viewer: null,
        collection,
        limit: 1,
        offset: 0,
      })
      expect(total).toBe(size)
    }
  })

  /** Of every row, with what says that it was written at all. */
  async function fingerprint(): Promise<unknown> {
    return await world.database.statements.run(
      `SELECT (SELECT md5(string_agg(xmin::text || id, ',' ORDER BY id)) FROM tool) AS tools,
        (SELECT md5(string_agg(xmin::text || slug, ',' ORDER BY slug)) FROM tool_provider) AS providers,
        (SELECT md5(string_agg(xmin::text || slug, ',' ORDER BY slug)) FROM tool_collection) AS collections,
        (SELECT string_agg(xmin::text || change::text, ',' ORDER BY environment) FROM tool_catalogue) AS changes`,
      [],
    )
  }
})
