import { NodeOperationError, type IDataObject, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow'
import { isObject } from '../shared/transport.ts'

/** One operation on one item. */
export interface Step {
  node: IExecuteFunctions
  item: number
}

/** An error for one item, with a message for the person or the model that asked for it. */
export function refusal({ node, item }: Step, sentence: string): NodeOperationError {
  return new NodeOperationError(node.getNode(), sentence, { itemIndex: item })
}

/** A parameter's text without surrounding spaces; for a locator, the id it stands for. */
export function readText({ node, item }: Step, name: string): string {
  return (node.getNodeParameter(name, item, '', { extractValue: true }) as string).trim()
}

/** The inputs of a marketplace asset or of a tool: a field for each, or all of them as JSON. */
export function inputFields(what: 'marketplace asset' | 'tool', chosenBy: string, method: string): INodeProperties[] {
  return [
    {
      displayName: 'Specify Inputs',
      name: 'specifyInputs',
      type: 'options',
      noDataExpression: true,
      default: 'fields',
      options: [
        { name: 'With Fields', value: 'fields', description: `A field for each input that the ${what} has` },
        {
          name: 'As JSON',
          value: 'json',
          description: `For inputs from another source, or when an expression chooses the ${what}`,
        },
      ],
    },
    {
      displayName: 'Inputs',
      name: 'inputs',
      type: 'resourceMapper',
      default: { mappingMode: 'defineBelow', value: null },
      noDataExpression: true,
      required: true,
      typeOptions: {
        loadOptionsDependsOn: [`${chosenBy}.value`],
        resourceMapper: {
          resourceMapperMethod: method,
          // The one mode in which n8n marks a required input, keeps it in place and refuses to run without it.
          mode: 'add',
          fieldWords: { singular: 'input', plural: 'inputs' },
          valuesLabel: 'Inputs',
          addAllFields: true,
          // Its label speaks of columns. As JSON takes the inputs of an item as well.
          supportAutoMap: false,
          noFieldsError: `This ${what} takes no inputs.`,
        },
      },
      // Before one is chosen there is nothing to list, and n8n would show an error with a "Retry" button.
      displayOptions: { show: { specifyInputs: ['fields'] }, hide: { [chosenBy]: [''] } },
    },
    {
      displayName: 'Inputs (JSON)',
      name: 'inputsJson',
      type: 'json',
      default: '{}',
      required: true,
      description: 'An object with a value for each input, by its name',
      displayOptions: { show: { specifyInputs: ['json'] } },
    },
  ]
}

export function readInputs(step: Step): IDataObject {
  const { node, item } = step
  if (node.getNodeParameter('specifyInputs', item, 'fields') === 'json') {
    return readJson(step, 'Inputs (JSON)', node.getNodeParameter('inputsJson', item, '{}'))
  }
  const mapped = node.getNodeParameter('inputs', item, {}) as Mapped
  if (mapped.mappingMode !== 'autoMapInputData') return filledIn(mapped.value ?? {})
  const json = node.getInputData()[item]?.json
  const names = (mapped.schema ?? []).filter(({ removed }) => removed !== true).map(({ id }) => id)
  // Only the expected inputs: the service refuses inputs that it does not know.
  return filledIn(Object.fromEntries(names.map((name) => [name, json?.[name]])))
}

/** Accepts an object or its JSON text. */
export function readJson(step: Step, name: string, value: unknown): IDataObject {
  let read = value
  if (typeof value === 'string') {
    try {
      read = JSON.parse(value.trim() === '' ? '{}' : value)
    } catch (cause) {
      throw refusal(step, `${name} is not valid JSON: ${(cause as Error).message}`)
    }
  }
  if (isObject(read)) return read
  throw refusal(step, `${name} must be an object, as in {"name": "value"}.`)
}

/** n8n gives a time of the workflow's zone, as text or as Luxon's object. The service wants one with its zone. */
export function readTime(step: Step, name: string, value: unknown): IDataObject {
  if (value === undefined || value === null || value === '') return {}
  const isLocal = typeof value === 'string' && LOCAL_TIME.test(value)
  const at = isLocal
    ? timeIn(step.node.getTimezone(), value.length > DAY.length ? value.replace(' ', 'T') : `${value}T00:00`)
    : new Date(typeof value === 'string' ? value : Number(value))
  if (Number.isNaN(at.getTime())) throw refusal(step, `${name} is not a time. Enter a date and a time.`)
  return { [name]: at.toISOString() }
}

/** A time or a day without its zone, as the editor stores it. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?$/
const DAY = 'yyyy-mm-dd'

/** In the hour that a clock is put back through twice, the first; of one that it skips, the time after it. */
function timeIn(zone: string, local: string): Date {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return new Date(Number.NaN)
  const candidates = [-DAY_MS, DAY_MS].map((away) => asUtc - offsetAt(zone, asUtc + away))
  const exact = candidates.filter((at) => at + offsetAt(zone, at) === asUtc)
  return new Date(exact.length > 0 ? Math.min(...exact) : Math.max(...candidates))
}

/** By how much a clock of the zone is ahead of UTC. */
function offsetAt(zone: string, at: number): number {
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
  return Date.parse(`${shown.replace(' ', 'T')}Z`) - Math.floor(at / 1_000) * 1_000
}

const DAY_MS = 86_400_000

interface Mapped {
  mappingMode?: string
  value?: IDataObject | null
  schema?: { id: string; removed?: boolean }[]
}

/** The editor stores null for an empty field. */
function filledIn(values: Readonly<Record<string, IDataObject[string] | undefined>>): IDataObject {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  )
}
