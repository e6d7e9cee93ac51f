import { NodeHelpers, Workflow, type IDataObject, type INode, type INodeParameters } from 'n8n-workflow'
import { readCheckout } from '../../nodes/PayToRunTrigger/checkout.ts'
import { outputFor } from '../../nodes/PayToRunTrigger/price.ts'
import { PayToRunTrigger } from '../../nodes/PayToRunTrigger/PayToRunTrigger.node.ts'
import { termsBody, toTerms } from '../../service/checkouts/http/bodies.ts'
import { assertPricing, withListedPrice } from '../../service/checkouts/rules/price.ts'
import { hook, webhook } from './n8n.ts'

const SIZES = {
  label: 'Size of the report',
  type: 'select',
  choices: {
    values: [
      { value: 'Short', price: 2 },
      { value: 'Long', price: 5 },
    ],
  },
}

describe('the price of a workflow is such as the service takes', () => {
  it.each<[string, IDataObject, IDataObject]>([
    ['one price, as it was', {}, { price: 5 }],
    [
      'a price for each',
      { pricing: 'quantity', quantityMin: 1, quantityMax: 20 },
      { price: 5, pricing: { kind: 'quantity', min: 1, max: 20 } },
    ],
    [
      'what the customer decides, without bounds that were not set',
      { pricing: 'choose', amountMin: 2, amountMax: 0, amountSuggested: 3 },
      { pricing: { kind: 'choose', min: 2, suggested: 3 } },
    ],
    [
      'that of the first dropdown',
      { pricing: 'byField', customerFields: { fields: [{ label: 'Site', type: 'url' }, SIZES] } },
      { pricing: { kind: 'byField', field: 'size_of_the_report', prices: { Short: 2, Long: 5 } } },
    ],
    [
      'that of the dropdown that is named',
      {
        ...{ pricing: 'byField', priceField: ' Size of the report ' },
        customerFields: {
          fields: [
            { ...SIZES, label: 'Other' },
            { ...SIZES, name: 'size' },
          ],
        },
      },
      { pricing: { kind: 'byField', field: 'size', prices: { Short: 2, Long: 5 } } },
    ],
  ])('%s', (_, parameters, expected) => {
    const sent = sentWith(parameters)
    const { price, pricing } = sent
    expect({ ...(price !== undefined && { price }), ...(pricing !== undefined && { pricing }) }).toEqual(expected)
    expect(() => assertPricing(withListedPrice(toTerms(termsBody.parse(sent))))).not.toThrow()
  })

  it('is refused by the service, and not guessed, where no dropdown has that name', () => {
    const sent = sentWith({ pricing: 'byField', priceField: 'Colour', customerFields: { fields: [SIZES] } })
    expect(() => assertPricing(withListedPrice(toTerms(termsBody.parse(sent))))).toThrow(/field/i)
  })
})

describe('the outputs of the trigger', () => {
  /** As n8n's editor and its engine find them. */
  function outputsOf(parameters: INodeParameters): unknown {
    const trigger = new PayToRunTrigger()
    const nodes: INode[] = [{ id: '1', name: 'T', type: 'x', typeVersion: 1.1, position: [0, 0], parameters }]
    const nodeTypes = { getByName: () => trigger, getByNameAndVersion: () => trigger, getKnownTypes: () => ({}) }
    const workflow = new Workflow({ nodes, connections: {}, active: false, nodeTypes })
    return NodeHelpers.getNodeOutputs(workflow, nodes[0]!, trigger.description)
  }
  const perChoice = { pricing: 'byField', outputPerChoice: true, customerFields: { fields: [SIZES] } }

  it.each<[string, INodeParameters]>([
    ['no choice has one', { ...perChoice, outputPerChoice: false }],
    ['no dropdown decides', { ...perChoice, pricing: 'fixed' }],
    ['the form has no dropdown yet', { ...perChoice, customerFields: {} }],
    ['the dropdown has another name', { ...perChoice, priceField: 'Colour' }],
  ])('are one where %s', (_, parameters) => {
    expect(outputsOf(parameters)).toEqual([{ type: 'main' }])
  })

  it.each(['', ' Size of the report '])('are one for each choice of the dropdown %j, by its name', (priceField) => {
    expect(outputsOf({ ...perChoice, priceField })).toEqual([
      { type: 'main', displayName: 'Short' },
      { type: 'main', displayName: 'Long' },
    ])
  })

  it.each<[string, IDataObject, IDataObject, number]>([
    ['the output of what was chosen', {}, { size_of_the_report: 'Long' }, 1],
    ['the first one for the first choice', {}, { size_of_the_report: 'Short' }, 0],
    ['the first one for a choice that was removed since', {}, { size_of_the_report: 'Huge' }, 0],
    ['the only one', { outputPerChoice: false }, { size_of_the_report: 'Long' }, 0],
  ])('get a payment at %s', (_, parameters, input, place) => {
    const { context } = webhook({}, { parameters: { ...perChoice, ...parameters } })
    expect(outputFor(context, { input })).toBe(place)
  })
})

describe('besides a single run', () => {
  it('plans, trial runs and coupons are sent as the service takes them', () => {
    const plans = [
      { name: 'Ten reports', kind: 'runs', price: 9, runs: 10, days: 30 },
      { name: 'One month', kind: 'period', price: 20, runs: 0, days: 31 },
    ]
    const sent = sentWith({ plans: { plans }, options: { coupons: true, trialRuns: 2, trialsPerDay: 10 } })
    expect(termsBody.parse(sent)).toMatchObject({ coupons: true, trialRuns: 2, trialsPerDay: 10 })
    expect(sent['plans']).toEqual([
      { id: 'ten-reports', name: 'Ten reports', kind: 'runs', price: 9, runs: 10 },
      { id: 'one-month', name: 'One month', kind: 'period', price: 20, days: 31 },
    ])
  })

  it('plans whose names have no Latin letters have ids that the service takes, the same each time', () => {
    const plan = (name: string) => ({ name, kind: 'period', price: 20, runs: 0, days: 31 })
    const idsOf = (...names: string[]) =>
      termsBody.parse(sentWith({ plans: { plans: names.map(plan) } })).plans?.map(({ id }) => id) ?? []
    const [month, year] = idsOf('月額プラン', 'Год')
    expect(month).toMatch(/^plan-[0-9a-f]{12}$/)
    expect(idsOf('Год', ' 月額プラン ')).toEqual([year, month])
    expect(year).not.toBe(month)
  })

  it('a field is shown only if a dropdown or a checkbox above it has a value', () => {
    const rules = (showIfField: string, showIfValue: string) => ({ showIfField, showIfValue })
    const sent = sentWith({
      customerFields: {
        fields: [
          SIZES,
          { label: 'By mail', type: 'boolean' },
          { label: 'Pages', type: 'number', rules: rules('Size of the report', 'Long') },
          { label: 'Address', type: 'text', rules: rules('By mail', 'true') },
        ],
      },
    })
    expect(termsBody.parse(sent).fields?.map(({ showIf }) => showIf)).toEqual([
      ...[undefined, undefined, { field: 'size_of_the_report', equals: 'Long' }, { field: 'by_mail', equals: true }],
    ])
  })
})

/** As JSON carries it. */
function sentWith(parameters: IDataObject): Record<string, unknown> {
  return JSON.parse(JSON.stringify(readCheckout(hook({ parameters }).context))) as Record<string, unknown>
}
