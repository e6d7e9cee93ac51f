/** A small document, of which a test changes what it is about. */
export function petDocument(paths: Record<string, unknown> = PETS, other: Record<string, unknown> = {}): string {
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1', description: 'Keeps [pets](https://pets.example).' },
    servers: [{ url: 'https://api.pets.example/v1/' }],
    paths,
    ...other,
  })
}

export const PET = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', readOnly: true },
    name: { type: 'string', example: 'Rex' },
    secret: { type: 'string', writeOnly: true },
    born: { type: 'string', format: 'date', nullable: true },
  },
}

export const PETS = {
  '/pets': {
    get: operation('listPets', { responses: answered({ type: 'array', items: PET }) }),
    post: operation('createPet', {
      requestBody: { required: true, content: { 'application/json': { schema: PET } } },
      responses: answered(PET, '201'),
    }),
  },
  '/pets/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    get: operation('getPet', { responses: answered(PET) }),
    delete: operation('deletePet', { responses: { 204: { description: 'gone' } } }),
  },
}

export function operation(
  operationId: string | undefined,
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  return { ...(operationId === undefined ? {} : { operationId }), responses: { 200: { description: 'ok' } }, ...rest }
}

export function answered(schema: unknown, code = '200', type = 'application/json'): Record<string, unknown> {
  return { [code]: { description: 'ok', content: { [type]: { schema } } } }
}
