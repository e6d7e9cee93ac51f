import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'

/** A real OpenID Connect issuer on this machine, as far as checking its tokens goes. */
export interface IssuerServer {
  url: string
  /** The documents requested so far. */
  requests: string[]
  /** The response to give instead, by path. */
  broken: Map<string, { status: number; body: string }>
  sign(
    claims: Record<string, unknown>,
    options?: { alg?: string; kid?: string; key?: CryptoKey | Uint8Array },
  ): Promise<string>
  /** Replaces its key, as issuers do. */
  rotate(): Promise<void>
  close(): Promise<void>
}

export async function startIssuer({ slash = false } = {}): Promise<IssuerServer> {
  let generation = 0
  let pair = await generateKeyPair('ES256')
  let jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'key-0', alg: 'ES256', use: 'sig' }] }
  const requests: string[] = []
  const broken: IssuerServer['broken'] = new Map()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push(path)
    const fault = broken.get(path)
    const document = path === '/jwks' ? jwks : { issuer: name(), ...endpointsAt(url) }
    response.writeHead(fault?.status ?? 200, { 'content-type': 'application/json' })
    response.end(fault?.body ?? JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  const name = () => (slash ? `${url}/` : url)

  return {
    url,
    requests,
    broken,
    sign: async (claims, { alg = 'ES256', kid = `key-${String(generation)}`, key = pair.privateKey } = {}) => {
      const now = Math.floor(Date.now() / 1000)
      const standard = { iss: name(), aud: 'coinslot', sub: 'ann', iat: now, exp: now + 600 }
      return await new SignJWT({ ...standard, ...claims }).setProtectedHeader({ alg, kid }).sign(key)
    },
    rotate: async () => {
      generation++
      pair = await generateKeyPair('ES256')
      jwks = {
        keys: [{ ...(await exportJWK(pair.publicKey)), kid: `key-${String(generation)}`, alg: 'ES256', use: 'sig' }],
      }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function endpointsAt(url: string) {
  return { jwks_uri: `${url}/jwks`, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` }
}
