import { NodeOperationError, type IDataObject, type ILoadOptionsFunctions } from 'n8n-workflow'
import { advice, ask, type Call } from '../shared/transport.ts'

/** What a list or a form in the panel is made of. */
export async function load(panel: ILoadOptionsFunctions, call: Omit<Call, 'method'>): Promise<IDataObject> {
  const answer = await ask(panel, { ...call, method: 'GET' })
  if (answer.reached && answer.status === 200) return answer.body
  throw new NodeOperationError(panel.getNode(), advice(answer))
}

/** What was chosen in the panel so far; empty where nothing was. */
export function chosen(panel: ILoadOptionsFunctions, name: string): string {
  const value = panel.getCurrentNodeParameter(name, { extractValue: true })
  return typeof value === 'string' ? value.trim() : ''
}
