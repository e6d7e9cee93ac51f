import { NodeApiError, type IDataObject, type INodeProperties } from 'n8n-workflow'
import { advice, ask, isObject } from '../../shared/transport.ts'
import { readText, refusal, type Step } from '../inputs.ts'
import { orderField, orderOf } from '../order.ts'
import { spend, type Operation } from '../request.ts'

export const answerPayer: Operation = {
  option: {
    name: 'Answer Payer',
    value: 'answer',
    description: 'Show the customer the result on the payment page, and report that the order succeeded',
    action: 'Answer the payer',
  },
  fields: [
    orderField,
    {
      displayName: 'Answer With',
      name: 'answerWith',
      type: 'options',
      default: 'text',
      description: 'What the customer gets',
      options: [
        { name: 'File', value: 'file', description: 'A file of this item, at most 45 KB; pictures are shown' },
        { name: 'Item', value: 'item', description: 'The fields of this item' },
        { name: 'Link', value: 'link', description: 'An address to go on to, such as a large file' },
        { name: 'Table', value: 'table', description: 'One table of all items' },
        { name: 'Text or Markdown', value: 'text', description: 'With headings, lists, links and pictures' },
      ],
    },
    shownFor('text', {
      displayName: 'Text',
      name: 'answerText',
      type: 'string',
      typeOptions: { rows: 6 },
      default: '',
      required: true,
      placeholder: 'e.g. **Your report** is ready: {{ $json.summary }}',
      description: 'Text or Markdown for the customer',
    }),
    shownFor('table', {
      displayName: 'Columns',
      name: 'columns',
      type: 'string',
      default: '',
      placeholder: 'e.g. name, price',
      description: 'The fields to show, separated by commas. If empty, all fields are shown.',
    }),
    shownFor('file', {
      displayName: 'File Property',
      name: 'fileProperty',
      type: 'string',
      default: 'data',
      required: true,
      hint: 'The name of the input field that holds the file',
    }),
    shownFor('link', {
      displayName: 'Link',
      name: 'linkUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. https://example.com/report',
      description: 'An http or https address',
    }),
    shownFor('link', {
      displayName: 'Link Text',
      name: 'linkText',
      type: 'string',
      default: 'Open your result',
      description: 'What the customer clicks',
    }),
  ],
  // A table is one answer, made of all items.
  isOnce: (step) => readText(step, 'answerWith') === 'table',
  async run(step) {
    const payment = orderOf(step)
    const answer = await readAnswer(step)
    const reported = report(step, payment, { status: 'succeeded', answer })
    return [{ json: await reported.catch((error: unknown) => answeredBefore(payment, error)) }]
  },
}

export const failPayment: Operation = {
  option: {
    name: 'Fail Payment',
    value: 'fail',
    description: 'Report that the order failed, with the reason. A payment that waits for the outcome is not charged.',
    action: 'Fail a payment',
  },
  fields: [
    orderField,
    {
      displayName: 'Reason',
      name: 'reason',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. This site does not answer. Check the address and try again.',
      description: 'What the customer reads',
    },
    {
      displayName:
        'A payment that was charged before the workflow ran is sent back only if the trigger has <b>Refund if It Fails</b> on, or with Payment: Refund.',
      name: 'failNotice',
      type: 'notice',
      default: '',
    },
  ],
  async run(step) {
    const payment = orderOf(step)
    return [{ json: await report(step, payment, { status: 'failed', answer: readText(step, 'reason') }) }]
  },
}

export const showProgress: Operation = {
  option: {
    name: 'Show Progress',
    value: 'progress',
    description: 'Show the customer a line while the workflow runs, and hand on the items unchanged',
    action: 'Show progress to the payer',
  },
  fields: [
    orderField,
    {
      displayName: 'Text',
      name: 'progressText',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. Reading the page',
      description: 'One line of at most 200 characters',
    },
    {
      displayName: 'Percent',
      name: 'percent',
      type: 'number',
      typeOptions: { minValue: 0, maxValue: 100 },
      default: 0,
      description: 'How much is done. 0 shows no percentage.',
    },
  ],
  async run(step) {
    const { node, item } = step
    const percent = Math.min(node.getNodeParameter('percent', item, 0) as number, 100)
    const line = readText(step, 'progressText').replace(/\s+/g, ' ').slice(0, 200)
    if (line === '') throw refusal(step, 'Text is empty. Enter the line that the customer reads.')
    const answer = await ask(node, {
      method: 'POST',
      path: `/payments/${encodeURIComponent(orderOf(step))}/progress`,
      body: { text: line, ...(percent > 0 && { percent }) },
      timeoutMs: 10_000,
    })
    // The customer has paid for the result: a line that cannot be shown must not stop the workflow.
    if (!answer.reached || answer.status >= 300) {
      node.addExecutionHints({ type: 'warning', message: `This line was not shown. ${advice(answer)}` })
    }
    const { json = {}, binary } = node.getInputData()[item] ?? {}
    return [binary === undefined ? { json } : { json, binary }]
  },
}

/** Of several items the first one has answered. A workflow that fails now would fail an order that was delivered. */
function answeredBefore(payment: string, error: unknown): IDataObject {
  const data = error instanceof NodeApiError ? error.context['data'] : null
  const isAnswered = isObject(data) && data['code'] === 'outcome_known' && data['outcome'] === 'succeeded'
  if (!isAnswered) throw error
  return { id: payment, note: 'This order was answered before. Its first answer counts.' }
}

async function report(step: Step, id: string, outcome: IDataObject): Promise<IDataObject> {
  const { payment } = await spend(step, { path: `/payments/${encodeURIComponent(id)}/outcome`, body: outcome })
  return isObject(payment) ? payment : {}
}

async function readAnswer(step: Step): Promise<string> {
  const answer = await ANSWERS[readText(step, 'answerWith') as keyof typeof ANSWERS](step)
  if (answer === '') throw refusal(step, 'The answer is empty. Enter what the customer gets.')
  if (Buffer.byteLength(answer) > BYTES_MAX) {
    throw refusal(step, 'The answer is larger than 64 KB. Store it elsewhere, and answer with a link to it.')
  }
  return answer
}

const ANSWERS = {
  text: (step: Step) => Promise.resolve(readText(step, 'answerText')),
  item: ({ node, item }: Step) => Promise.resolve(JSON.stringify(node.getInputData()[item]?.json ?? {})),
  table: (step: Step) => Promise.resolve(readTable(step)),
  file: readFile,
  link: (step: Step) => Promise.resolve(readLink(step)),
}

/** The payment page shows a list of flat objects as a table. */
function readTable(step: Step): string {
  const columns = readText(step, 'columns')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const rows = step.node.getInputData().map(({ json }) => {
    const names = columns.length > 0 ? columns : Object.keys(json)
    return Object.fromEntries(names.map((name) => [name, cellOf(json[name])]))
  })
  return JSON.stringify(rows)
}

function cellOf(value: IDataObject[string]): IDataObject[string] {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null)
}

async function readFile(step: Step): Promise<string> {
  const { node, item } = step
  const property = readText(step, 'fileProperty')
  const { fileName, mimeType } = node.helpers.assertBinaryData(item, property)
  const bytes = await node.helpers.getBinaryDataBuffer(item, property)
  if (bytes.length > FILE_BYTES_MAX) {
    throw refusal(step, 'The file is larger than 45 KB. Store it elsewhere, and answer with a link to it.')
  }
  return JSON.stringify({ fileName: fileName ?? 'answer', contentType: mimeType, base64: bytes.toString('base64') })
}

function readLink(step: Step): string {
  const url = readText(step, 'linkUrl')
  if (!/^https?:\/\/[^\s()<>]+$/.test(url)) {
    throw refusal(step, 'Link must be an http or https address without spaces and brackets. Check it.')
  }
  const words = readText(step, 'linkText').replace(/[[\]\\\r\n]/g, ' ')
  return `[${words === '' ? url : words}](${url})`
}

function shownFor(answerWith: string, field: INodeProperties): INodeProperties {
  return { ...field, displayOptions: { show: { answerWith: [answerWith] } } }
}

const BYTES_MAX = 65_536
/** In base64, with its name, it still fits an answer. */
const FILE_BYTES_MAX = 46_080
