import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow'

/** One parameter of a node, as a stored workflow depends on it: a default is not stored. */
export interface Parameter {
  /** Where it is in the stored parameters; of those of an operation, behind the operation's name. */
  at: string
  type: string
  default: unknown
  /** What can be chosen. */
  choices: unknown[]
}

/** All parameters of a node in one version, each with every operation that has it. */
export function parametersOf(properties: readonly INodeProperties[], version: number): Parameter[] {
  return situationsOf(properties).flatMap((chosen) => {
    const named = Object.values(chosen).join(' ')
    return within(properties, { ...chosen, '@version': version }).map((parameter) => ({
      ...parameter,
      at: named === '' ? parameter.at : `${named}: ${parameter.at}`,
    }))
  })
}

type Chosen = Readonly<Record<string, string | number>>

function situationsOf(properties: readonly INodeProperties[]): Chosen[] {
  const choose = (name: string, chosen: Chosen): Chosen[] =>
    properties
      .filter((property) => property.name === name && isShown(property, chosen))
      .flatMap(({ options = [] }) =>
        (options as INodePropertyOptions[]).map(({ value }) => ({ ...chosen, [name]: String(value) })),
      )
  const resources = choose('resource', {})
  return resources.length === 0 ? [{}] : resources.flatMap((chosen) => choose('operation', chosen))
}

function within(properties: readonly INodeProperties[], chosen: Chosen): Parameter[] {
  return properties
    .filter((property) => property.type !== 'notice' && isShown(property, chosen))
    .flatMap((property) => {
      const { name: at, type, options = [], default: byDefault } = property
      const isChoice = type === 'options' || type === 'multiOptions'
      const choices = isChoice ? (options as INodePropertyOptions[]).map(({ value }) => value) : []
      const inside =
        type === 'collection'
          ? within(options as INodeProperties[], chosen)
          : type === 'fixedCollection'
            ? (options as INodePropertyCollection[]).flatMap(({ name, values }) => under(name, within(values, chosen)))
            : []
      return [{ at, type, default: byDefault, choices }, ...under(at, inside)]
    })
}

function under(name: string, parameters: readonly Parameter[]): Parameter[] {
  return parameters.map((parameter) => ({ ...parameter, at: `${name}.${parameter.at}` }))
}

/** By what is known of the situation; a parameter that depends on other values may be shown. */
function isShown({ displayOptions = {} }: INodeProperties, chosen: Chosen): boolean {
  const includes = ([name, values]: [string, unknown]): boolean | null => {
    const value = chosen[name.replace(/^\//, '')]
    return value === undefined ? null : (values as unknown[]).includes(value)
  }
  const { show = {}, hide = {} } = displayOptions
  return Object.entries(show).every((one) => includes(one) !== false) && !Object.entries(hide).some(includes)
}
