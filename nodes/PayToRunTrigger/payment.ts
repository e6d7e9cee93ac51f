import type { IDataObject } from 'n8n-workflow'

/** The workflow's data, or the first field that makes the body invalid. */
export type Reading =
  | { sound: true; data: IDataObject; simulated: boolean }
  | { sound: false; fault: readonly [field: string, fault: string] }

/**
 * Requires exactly the specified shape: an unknown field is as wrong as a missing one, because workflows are built on
 * it. Only a newer service, whose signature was verified, may add to `metadata`: a paid workflow must not stop because
 * the service was updated before the node.
 */
export function readPayment(body: Buffer, { genuine }: { genuine: boolean }): Reading {
  let data: unknown
  try {
    data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return { sound: false, fault: ['body', 'must be JSON'] }
  }
  const fault = faultOf(data, SHAPE, '')
  if (fault !== undefined && !(genuine && isAddition(fault))) return { sound: false, fault }
  const { payment, metadata } = data as { payment: { txHash: string | null }; metadata: { test?: boolean } }
  const simulated = payment.txHash === null ? metadata.test === true : payment.txHash.startsWith('simulated:')
  return { sound: true, data: data as IDataObject, simulated }
}

interface Shape {
  [name: string]: Shape | ((value: unknown) => string | undefined)
}

const SHAPE: Shape = {
  payment: {
    // A payment that is charged only after the success has no transaction yet.
    txHash: (value) => (value === null ? undefined : text(value)),
    amount: (value) => (typeof value === 'number' && value >= 0 ? undefined : 'must be a number, zero or more'),
    currency: text,
    payer: text,
    network: text,
    timestamp: (value) => (Number.isSafeInteger(value) ? undefined : 'must be whole seconds since 1970'),
  },
  input: (value) => (isObject(value) ? undefined : 'must be an object'),
  metadata: {
    checkoutId: text,
    receivedAt: (value) =>
      typeof value === 'string' && ISO_8601.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : 'must be an ISO 8601 time',
    paymentId: text,
    test: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
    receiptUrl: text,
    capture: text,
    deadline: text,
    chat: (value) => (isObject(value) ? undefined : 'must be an object'),
    lines: (value) => (isObject(value) ? undefined : 'must be an object'),
    free: text,
    plan: text,
  },
}

function isAddition([field, fault]: readonly [string, string]): boolean {
  return fault === UNKNOWN && field.startsWith('metadata.')
}

const UNKNOWN = 'is not part of a payment'

/**
 * Earlier versions of the service do not send these fields. `capture` and `deadline` come with a payment that is not charged yet, `chat`
 * with a turn of one, `lines` with a price that is not one for all, `free` and `plan` with what was paid ahead or costs nothing.
 */
const OPTIONAL: ReadonlySet<string> = new Set(
  ['paymentId', 'test', 'receiptUrl', 'capture', 'deadline', 'chat', 'lines', 'free', 'plan'].map(
    (name) => `metadata.${name}`,
  ),
)

function faultOf(value: unknown, shape: Shape, at: string): readonly [string, string] | undefined {
  if (!isObject(value)) return [at === '' ? 'body' : at, 'must be an object']
  const path = (name: string): string => (at === '' ? name : `${at}.${name}`)
  for (const [name, part] of Object.entries(shape)) {
    if (!Object.hasOwn(value, name)) {
      if (OPTIONAL.has(path(name))) continue
      return [path(name), 'is missing']
    }
    if (typeof part !== 'function') {
      const fault = faultOf(value[name], part, path(name))
      if (fault !== undefined) return fault
    } else {
      const fault = part(value[name])
      if (fault !== undefined) return [path(name), fault]
    }
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(shape, name))
  return unknown === undefined ? undefined : [path(unknown), UNKNOWN]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'must be text'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
