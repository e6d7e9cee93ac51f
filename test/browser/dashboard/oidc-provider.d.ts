/** As much of the package as the tests use; it comes without types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    AccessToken: Issued
    ClientCredentials: Issued
  }

  interface Issued {
    find(value: string): Promise<{ accountId?: string; clientId?: string } | undefined>
  }

  interface Context {
    status: number
    body: unknown
    oidc?: {
      route?: string
      params?: Record<string, unknown>
      entities?: Partial<
        Record<'Account' | 'RefreshToken' | 'DeviceCode', { accountId?: string }> & {
          Client: { clientId: string }
        }
      >
    }
  }
}
