import { samplesOf } from '../../../../ui-kit/code-samples.ts'

/** What the lines need of an asset. */
export interface Runnable {
  slug: string
  name: string
  exampleInputs: Readonly<Record<string, unknown>>
}

export interface Lines {
  label: string
  source: string
}

/** A run of the asset from a workflow and from programs, as it can be copied. */
export function linesOf({ slug, name, exampleInputs: inputs }: Runnable, apiUrl: string): readonly Lines[] {
  const { origin, pathname } = new URL(apiUrl)
  const programs = samplesOf({
    method: 'POST',
    origin,
    path: `${pathname === '/' ? '' : pathname}/run`,
    params: {},
    isFilled: true,
    query: {},
    headers: {},
    credential: 'COINSLOT_KEY',
    body: { json: { rdaSlug: slug, inputs } },
    // The client adds the path of the API to the address of the service.
    isTyped: pathname === '/v1',
  })
  return [
    { label: 'n8n', source: nodeOf(slug, name, inputs) },
    ...programs.map(({ label, source }) => ({ label, source })),
  ]
}

/** As n8n takes it from the clipboard. */
function nodeOf(slug: string, name: string, inputs: Runnable['exampleInputs']): string {
  const node = {
    name,
    type: 'n8n-nodes-coinslot.coinslot',
    typeVersion: 1,
    position: [0, 0],
    parameters: {
      resource: 'rda',
      operation: 'run',
      rda: { __rl: true, mode: 'id', value: slug },
      specifyInputs: 'json',
      inputsJson: JSON.stringify(inputs),
    },
  }
  return JSON.stringify({ nodes: [node], connections: {} }, null, 2)
}
