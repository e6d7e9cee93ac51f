/** The client of the service at the provider. */
export const CLIENT = { id: 'coinslot', secret: 'a-secret-that-both-sides-know' }

export interface ProviderSetting {
  redirectUri: string
  /** Clients of accounts, with their secrets. */
  bots: Record<string, string>
}

/** What the provider has seen. */
export interface ProviderJournal {
  /** Each request for tokens. */
  grants: { who: string; grant: string; succeeded: boolean }[]
  /** Each call of the API: who made it, and whose token it had. */
  calls: { caller: string; who: string | null }[]
  revocations: number
  /** Whose access tokens are accepted now, each as often as there is one. */
  alive: string[]
}

/** An API whose only operation says whose token the call had. */
export const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  components: {
    securitySchemes: {
      account: {
        type: 'oauth2',
        flows: {
          authorizationCode: { authorizationUrl: 'https://a.example', tokenUrl: 'https://a.example', scopes: {} },
        },
      },
    },
  },
  paths: {
    '/api/{caller}': {
      post: {
        operationId: 'write',
        summary: 'Write a note',
        security: [{ account: ['notes'] }],
        parameters: [{ name: 'caller', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          200: { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } },
        },
      },
    },
  },
}
