/** The OpenAPI document of a server with one operation, a POST that takes one text and answers an object. */
export function documentOf({ path, operationId, summary, field }: Operation) {
  const schema = { type: 'object', required: [field], properties: { [field]: { type: 'string' } } }
  return {
    openapi: '3.1.0',
    info: { title: summary, version: '1' },
    paths: {
      [path]: {
        post: {
          operationId,
          summary,
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { 200: { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } } },
        },
      },
    },
  }
}

interface Operation {
  path: string
  operationId: string
  summary: string
  field: string
}
