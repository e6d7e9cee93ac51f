import { createHash } from 'node:crypto'
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow'
import { isObject } from '../shared/transport.ts'
import { fieldNamed, keyOf, nameOf, type FieldParameters } from './form.ts'

/** The price, and how it comes about where that is not one price for all: older workflows keep their fingerprint. */
export function readPricing(hook: IHookFunctions | IWebhookFunctions, fields: readonly FieldParameters[]): IDataObject {
  const amount = (name: string): number => hook.getNodeParameter(name, 0) as number
  switch (hook.getNodeParameter('pricing', 'fixed')) {
    case 'quantity': {
      const pricing = { kind: 'quantity', min: amount('quantityMin'), max: amount('quantityMax') }
      return { price: hook.getNodeParameter('price'), pricing }
    }
    case 'choose': {
      const [max, suggested] = [amount('amountMax'), amount('amountSuggested')]
      return {
        pricing: {
          kind: 'choose',
          min: amount('amountMin'),
          ...(max > 0 && { max }),
          ...(suggested > 0 && { suggested }),
        },
      }
    }
    case 'byField':
      return { pricing: byField(hook, fields) }
    default:
      return { price: hook.getNodeParameter('price') }
  }
}

function byField(hook: IHookFunctions | IWebhookFunctions, fields: readonly FieldParameters[]): IDataObject {
  const found = decidingField(hook, fields)
  // Without a dropdown, the service says that the form has no such field.
  const field = found === undefined ? nameOf(hook.getNodeParameter('priceField', '') as string) : keyOf(found)
  const prices = (found?.choices?.values ?? []).map(({ value, price = 1 }) => [value, price])
  return { kind: 'byField', field, prices: Object.fromEntries(prices) as IDataObject }
}

/** The dropdown that decides the price, where one does. */
function decidingField(hook: IHookFunctions | IWebhookFunctions, fields: readonly FieldParameters[]) {
  if (hook.getNodeParameter('pricing', 'fixed') !== 'byField') return undefined
  const named = hook.getNodeParameter('priceField', '') as string
  const dropdowns = fields.filter(({ type }) => type === 'select')
  return named.trim() === '' ? dropdowns[0] : fieldNamed(dropdowns, named)
}

/**
 * The trigger's outputs: one, or one for each choice of the dropdown that decides the price. n8n runs the text of this
 * function to draw the node, so it uses nothing outside itself.
 */
export function outputsOf({ pricing, outputPerChoice, priceField, customerFields }: OutputParameters): Output[] {
  const named = priceField?.trim() ?? ''
  const found = customerFields?.fields?.find(
    ({ type, label, name }) => type === 'select' && (named === '' || named === label?.trim() || named === name),
  )
  const choices = found?.choices?.values ?? []
  if (pricing !== 'byField' || outputPerChoice !== true || choices.length === 0) return [{ type: 'main' }]
  return choices.map(({ value }) => ({ type: 'main', displayName: value }))
}

interface OutputParameters {
  pricing?: string
  outputPerChoice?: boolean
  priceField?: string
  /** While its author fills it in, a field may be without a label. */
  customerFields?: { fields?: Partial<FieldParameters>[] }
}

interface Output {
  type: 'main'
  displayName?: string
}

/** The place of the output that a payment goes to, by what its customer chose. */
export function outputFor(webhook: IWebhookFunctions, { input }: IDataObject): number {
  const customerFields = webhook.getNodeParameter('customerFields', {}) as { fields?: FieldParameters[] }
  const decides = decidingField(webhook, customerFields.fields ?? [])
  if (decides === undefined || !isObject(input)) return 0
  const outputs = outputsOf({
    pricing: webhook.getNodeParameter('pricing', 'fixed') as string,
    outputPerChoice: webhook.getNodeParameter('outputPerChoice', false) as boolean,
    priceField: webhook.getNodeParameter('priceField', '') as string,
    customerFields,
  })
  const chosen = input[keyOf(decides)]
  return Math.max(
    0,
    outputs.findIndex(({ displayName }) => displayName !== undefined && displayName === chosen),
  )
}

/** There is no price until the dropdown that decides it was answered, so it is required. */
export function withDecision(
  hook: IHookFunctions | IWebhookFunctions,
  fields: readonly FieldParameters[],
): readonly FieldParameters[] {
  const decides = decidingField(hook, fields)
  return fields.map((field) => (field === decides ? { ...field, required: true } : field))
}

/** What customers can pay for ahead; left out where there is nothing. */
export function readPlans(hook: IHookFunctions | IWebhookFunctions): IDataObject {
  const { plans = [] } = hook.getNodeParameter('plans', {}) as { plans?: PlanParameters[] }
  if (plans.length === 0) return {}
  return {
    plans: plans.map(({ name, kind, price, days = 30, runs = 10 }) => {
      const common = { id: idOf(name), name: name.trim(), price, kind }
      if (kind === 'runs') return { ...common, runs }
      return runs > 0 ? { ...common, days, runs } : { ...common, days }
    }),
  }
}

interface PlanParameters {
  name: string
  kind: 'runs' | 'period'
  price: number
  days?: number
  runs?: number
}

/** The same name is the same plan, also after the workflow was published again. A name without Latin letters or digits has a number of its own. */
function idOf(name: string): string {
  const id = nameOf(name).replaceAll('_', '-').slice(0, 40).replace(/-$/, '')
  return id === '' ? `plan-${createHash('sha256').update(name.trim().normalize()).digest('hex').slice(0, 12)}` : id
}
