import { importShipped } from '../../service/tools/shipped-part.ts'
import { SHIPPED } from '../../service/openapi/shipped.ts'
import type { Tool } from '../../service/tools/model/tool.ts'
import { newAjv } from './ajv.ts'
import { catalogueWorld, type CatalogueWorld } from './catalogue-world.ts'

describe('The catalogue that comes with the sandbox', () => {
  let world: CatalogueWorld
  const tools: Tool[] = []
  const ajv = newAjv()

  beforeAll(async () => {
    world = await catalogueWorld()
    await importShipped(world.catalogue)
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

  test('is listed whole, however much is asked for at once', async () => {
    const { tools: listed } = await world.catalogue.list({
      environment: 'sandbox',
      viewer: null,
      limit: 10_000,
      offset: 0,
    })
    expect(listed.map(({ tool }) => tool.slug)).toEqual(tools.map(({ slug }) => slug))
  })

  test('answers each of them with an example that fits its own output schema', () => {
    const wrong: string[] = []
    let checked = 0
    for (const tool of tools) {
      const { status, contentType, body } = world.catalogue.simulate(tool, {})
      if (status < 200 || status > 299) wrong.push(`${tool.slug}: ${String(status)}`)
      if (tool.output === null) continue
      checked++
      if (!contentType?.includes('json')) wrong.push(`${tool.slug}: ${String(contentType)}`)
      const fits = ajv.compile(tool.output)
      if (!fits(JSON.parse(body.toString()))) wrong.push(`${tool.slug}: ${ajv.errorsText(fits.errors)}`)
    }
    expect(wrong).toEqual([])
    expect(checked).toBeGreaterThan(1_300)
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
    await importShipped(world.another())
    expect(await fingerprint()).toEqual(before)
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
    const found = await world.catalogue.search({ environment: 'sandbox', viewer: null, query, limit: 3 })
    expect(found.map(({ tool }) => tool.slug)).toContainEqual(expect.stringMatching(new RegExp(`^${slug}`)))
  })

  test('its collections have tools, and none that their words do not speak of', async () => {
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
