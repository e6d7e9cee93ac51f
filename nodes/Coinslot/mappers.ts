import type { FieldType, ILoadOptionsFunctions, ResourceMapperField, ResourceMapperFields } from 'n8n-workflow'
import { isObject } from '../shared/transport.ts'
import { chosen, load } from './lists.ts'

/** A field for each input of the chosen asset. */
export async function mapRdaInputs(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
  const rda = chosen(this, 'rda')
  if (rda === '') return { fields: [] }
  const body = await load(this, { path: `/rda/${encodeURIComponent(rda)}` })
  const { schema } = body['rda'] as { schema: { inputs: RdaInput[] } }
  return { fields: schema.inputs.map(fieldOfInput), emptyFieldsNotice: 'This marketplace asset takes no inputs.' }
}

/** A field for each property of the chosen tool's JSON schema. */
export async function mapToolInputs(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
  const tool = chosen(this, 'tool')
  if (tool === '') return { fields: [] }
  const body = await load(this, { surface: 'tools', path: `/${encodeURIComponent(tool)}` })
  // The schema is in the answer itself or in its tool.
  const { inputSchema } = (isObject(body['tool']) ? body['tool'] : body) as { inputSchema?: ToolSchema }
  const { properties = {}, required = [] } = inputSchema ?? {}
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOfProperty(name, property, required.includes(name)),
  )
  // Required fields come first, because some tools have forty properties.
  fields.sort((one, other) => Number(other.required) - Number(one.required))
  return { fields, emptyFieldsNotice: 'This tool takes no inputs.' }
}

interface RdaInput {
  name: string
  label?: string
  type: string
  required: boolean
  options?: string[] | null
  default?: unknown
}

function fieldOfInput({ name, label, type, required, options, default: preset }: RdaInput): ResourceMapperField {
  return field({
    id: name,
    displayName: label === undefined || label === '' ? name : label,
    // An empty field takes the default.
    required: required && (preset === null || preset === undefined),
    type: TYPE_OF_INPUT[type] ?? 'string',
    options,
    // Without it n8n shows 0 in an empty field for a number.
    defaultValue: ['string', 'number', 'boolean'].includes(typeof preset)
      ? (preset as string | number | boolean)
      : undefined,
  })
}

const TYPE_OF_INPUT: Readonly<Partial<Record<string, FieldType>>> = {
  number: 'number',
  boolean: 'boolean',
  select: 'options',
  // Any JSON value, including a list: the service parses it from text.
  json: 'string',
}

interface ToolSchema {
  properties?: Record<string, Property>
  required?: string[]
}

interface Property {
  type?: string | string[]
  enum?: unknown[]
  title?: string
}

function fieldOfProperty(name: string, { type, enum: values }: Property, required: boolean): ResourceMapperField {
  const texts = values?.filter((value) => typeof value === 'string') ?? []
  const [only, ...others] = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null')
  const isChoice = values !== undefined && texts.length > 0 && texts.length === values.length
  return field({
    id: name,
    displayName: name,
    required,
    type: isChoice ? 'options' : ((others.length === 0 ? TYPE_OF_SCHEMA[only ?? ''] : undefined) ?? 'string'),
    options: isChoice ? texts : null,
  })
}

const TYPE_OF_SCHEMA: Readonly<Partial<Record<string, FieldType>>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'array',
  object: 'object',
}

function field({
  options,
  displayName,
  defaultValue,
  ...rest
}: Pick<ResourceMapperField, 'id' | 'displayName' | 'required'> & {
  type: FieldType
  options?: string[] | null | undefined
  defaultValue?: string | number | boolean | undefined
}): ResourceMapperField {
  return {
    ...rest,
    // n8n shows its own mark as a tooltip only.
    displayName: rest.required ? `${displayName} (required)` : displayName,
    display: true,
    defaultMatch: false,
    ...(defaultValue !== undefined && { defaultValue }),
    ...(rest.type === 'options' && { options: (options ?? []).map((value) => ({ name: value, value })) }),
  }
}
