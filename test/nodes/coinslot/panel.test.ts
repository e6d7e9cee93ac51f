import type { INodeProperties } from 'n8n-workflow'
import { Coinslot } from '../../../nodes/Coinslot/Coinslot.node.ts'
import { fieldsSchema } from '../../../service/kit/fields.ts'
import { named, panel } from './execution.ts'

const { listSearch, resourceMapping } = new Coinslot().methods
const { description } = new Coinslot()

describe('the lists', () => {
  it('of assets show the price, search in the service, and load page by page', async () => {
    const rdas = Array.from({ length: 50 }, (_, place) => ({
      ...{ slug: `r${place}`, name: 'R' },
      pricing: { model: place === 1 ? 'free' : 'per-run', amount: 0.05 },
    }))
    const { context, calls } = panel({}, [{ status: 200, body: { rdas, total: 60 } }])
    const first = await listSearch.searchRdas.call(context, ' seo ')
    expect(calls[0]).toMatchObject({
      url: 'http://localhost:4020/v1/rdas',
      qs: { search: 'seo', limit: 50, offset: 0 },
    })
    expect(first.results.slice(0, 2)).toEqual([
      { name: 'R · 0.05 USDC', value: 'r0' },
      { name: 'R · free', value: 'r1' },
    ])
    expect(first.paginationToken).toBe('50')

    const rest = panel({}, [{ status: 200, body: { rdas: rdas.slice(0, 10), total: 60 } }])
    const last = await listSearch.searchRdas.call(rest.context, undefined, '50')
    expect(rest.calls[0]?.qs).toEqual({ limit: 50, offset: 50 })
    expect(last).not.toHaveProperty('paginationToken')
  })

  it('of tools show the provider and the price', async () => {
    const tools = [{ slug: 'github-search', name: 'Search', provider: 'github', price: 0.001 }]
    const { context, calls } = panel({}, [{ status: 200, body: { tools, total: 1 } }])
    const { results } = await listSearch.searchTools.call(context)
    expect(calls[0]?.url).toBe('http://localhost:4020/tools')
    expect(results).toEqual([{ name: 'Search (github) · 0.001 USDC', value: 'github-search' }])
  })

  it('of models are those of the chosen prompt, filtered', async () => {
    const allowedModels = [
      { id: 'a/one', name: 'One', tier: 'fast' },
      { id: 'b/two', name: 'Two', tier: 'balanced' },
    ]
    const { context } = panel({ rda: named('x') }, [
      { status: 200, body: { rda: { promptConfig: { allowedModels } } } },
    ])
    expect(await listSearch.searchModels.call(context, 'TWO')).toEqual({
      results: [{ name: 'Two · balanced', value: 'b/two' }],
    })
  })

  it('of models are empty for an agent, and complete where no asset is chosen', async () => {
    const agent = panel({ rda: named('x') }, [{ status: 200, body: { rda: { promptConfig: null } } }])
    expect(await listSearch.searchModels.call(agent.context)).toEqual({ results: [] })
    const models = [{ id: 'a/one', name: 'One', tier: 'fast' }]
    const none = panel({ rda: named('') }, [{ status: 200, body: { models } }])
    expect((await listSearch.searchModels.call(none.context)).results).toHaveLength(1)
  })

  it('say why they are empty when the service is unreachable', async () => {
    const { context } = panel({}, [new Error('connect ECONNREFUSED')])
    await expect(listSearch.searchRdas.call(context)).rejects.toThrow(/Coinslot cannot be reached/)
  })
})

describe('the fields for inputs', () => {
  it('of an asset are one per input, in its order, with a matching type', async () => {
    const types = ['text', 'textarea', 'number', 'boolean', 'select', 'url', 'email', 'json', 'file']
    // Through the service's own schema: what it answers is what is read here.
    const inputs = fieldsSchema.parse(
      types.map((type) => ({
        ...{ name: type, label: `The ${type}`, type, required: true },
        ...(type === 'select' && { options: ['one', 'two'] }),
      })),
    )
    const { context } = panel({ rda: named('x') }, [{ status: 200, body: { rda: { schema: { inputs } } } }])
    const { fields } = await resourceMapping.mapRdaInputs.call(context)
    expect(fields.map(({ id, type }) => [id, type])).toEqual([
      ['text', 'string'],
      ['textarea', 'string'],
      ['number', 'number'],
      ['boolean', 'boolean'],
      ['select', 'options'],
      ['url', 'string'],
      ['email', 'string'],
      ['json', 'string'],
      ['file', 'string'],
    ])
    expect(fields[0]).toMatchObject({ displayName: 'The text (required)', required: true, display: true })
    expect(fields[4]?.options).toEqual([
      { name: 'one', value: 'one' },
      { name: 'two', value: 'two' },
    ])
  })

  it('of an asset are optional where there is a default', async () => {
    const inputs = fieldsSchema.parse([{ name: 'tone', type: 'text', required: true, default: 'warm' }])
    const { context } = panel({ rda: named('x') }, [{ status: 200, body: { rda: { schema: { inputs } } } }])
    expect((await resourceMapping.mapRdaInputs.call(context)).fields).toMatchObject([
      { id: 'tone', displayName: 'tone', required: false, defaultValue: 'warm' },
    ])
  })

  it('of a tool follow its JSON schema, the required ones first', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        page: { type: 'integer' },
        sort: { enum: ['asc', 'desc'] },
        labels: { type: 'array', items: { type: 'string' } },
        filter: { type: 'object' },
        archived: { type: ['boolean', 'null'] },
        id: { type: ['string', 'integer'] },
        level: { enum: [1, 2] },
        any: {},
        q: { type: 'string' },
      },
      required: ['q'],
    }
    const { context, calls } = panel({ tool: named('github-search') }, [
      { status: 200, body: { tool: { inputSchema } } },
    ])
    const { fields } = await resourceMapping.mapToolInputs.call(context)
    expect(calls[0]?.url).toBe('http://localhost:4020/tools/github-search')
    expect(fields.map(({ id, type, required }) => [id, type, required])).toEqual([
      ['q', 'string', true],
      ['page', 'number', false],
      ['sort', 'options', false],
      ['labels', 'array', false],
      ['filter', 'object', false],
      ['archived', 'boolean', false],
      ['id', 'string', false],
      ['level', 'string', false],
      ['any', 'string', false],
    ])
  })

  it('are empty, without a request, while nothing is chosen', async () => {
    const { context, calls } = panel({ rda: named(''), tool: named('') }, [])
    expect(await resourceMapping.mapRdaInputs.call(context)).toEqual({ fields: [] })
    expect(await resourceMapping.mapToolInputs.call(context)).toEqual({ fields: [] })
    expect(calls).toEqual([])
  })

  it('say that the chosen asset no longer exists', async () => {
    const missing = { status: 404, body: { error: 'There is no such marketplace asset.', code: 'rda_not_found' } }
    const { context } = panel({ rda: named('x') }, [missing])
    await expect(resourceMapping.mapRdaInputs.call(context)).rejects.toThrow('There is no such marketplace asset.')
  })

  it('are labelled as inputs, not columns, and keep the required ones', () => {
    const mappers = description.properties.filter(({ type }) => type === 'resourceMapper')
    expect(mappers.map(({ typeOptions }) => typeOptions?.resourceMapper)).toHaveLength(2)
    for (const { typeOptions } of mappers) {
      // Other modes let a required input be removed; mapping by itself has a label that speaks of columns.
      expect(typeOptions?.resourceMapper).toMatchObject({
        mode: 'add',
        supportAutoMap: false,
        valuesLabel: 'Inputs',
        fieldWords: { singular: 'input', plural: 'inputs' },
      })
    }
  })
})

describe('the texts of the panel', () => {
  it("say “marketplace asset”, never the API's own name", () => {
    expect(wordsOf(description.properties).filter((word) => /\brdas?\b/i.test(word))).toEqual([])
    const resources = description.properties[0]?.options as { name: string; value: string }[]
    expect(resources.find(({ value }) => value === 'rda')?.name).toBe('Marketplace Asset')
    expect(resources.map(({ name }) => name)).toEqual(resources.map(({ name }) => name).toSorted())
  })
})

describe('the panel', () => {
  const { properties } = description
  const shown = (resource: string, operation: string): INodeProperties[] =>
    properties.filter(
      ({ displayOptions }) =>
        displayOptions?.show?.['resource']?.includes(resource) === true &&
        displayOptions.show['operation']?.includes(operation) === true,
    )

  it('begins, for every resource, with an operation that it has', () => {
    const operations = properties.filter(({ name }) => name === 'operation')
    expect(operations.map(({ displayOptions }) => displayOptions?.show?.['resource'])).toEqual([
      ...[['agent'], ['checkout'], ['coupon'], ['rda'], ['paidUrl'], ['payment'], ['run'], ['tool'], ['wallet']],
    ])
    for (const { options, default: first } of operations) {
      expect((options as { value: string }[]).map(({ value }) => value)).toContain(first)
    }
  })

  it('shows no parameter name twice for an operation', () => {
    for (const { options, displayOptions } of properties.filter(({ name }) => name === 'operation')) {
      const resource = displayOptions?.show?.['resource']?.[0] as string
      for (const { value } of options as { value: string }[]) {
        const names = shown(resource, value).map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
      }
    }
  })

  it('stays short: no operation asks more than nine questions before its options', () => {
    const counts = ['run', 'get', 'search'].map((operation) => shown('rda', operation).length)
    expect(Math.max(...counts, shown('paidUrl', 'fetch').length)).toBeLessThanOrEqual(9)
  })

  it('names a method for each list and each mapper that there is', () => {
    const text = JSON.stringify(properties)
    for (const name of [...Object.keys(listSearch), ...Object.keys(resourceMapping)])
      expect(text).toContain(`"${name}"`)
  })
})

/** What a person reads of the parameters. A name is a person's only where it is a choice's. */
function wordsOf(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(wordsOf)
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) => {
    if (typeof value !== 'string') return wordsOf(value)
    const isRead = ['displayName', 'description', 'placeholder', 'hint', 'action'].includes(key)
    return isRead || (key === 'name' && 'value' in part) ? [value] : []
  })
}
