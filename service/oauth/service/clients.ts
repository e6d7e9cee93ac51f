import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import { Recent } from '../../kit/recent.ts'
import { clientMetadataRefused, clientRefused, clientUnavailable } from '../errors.ts'
import type { Client, ClientStore, Outbound } from '../model.ts'
import { fromDocument, isDocumentAddress, toClient } from '../rules/clients.ts'

/** The programs that may ask owners for access: those with a metadata document, and those that registered. */
export function createClients({ store, clock, outbound }: ClientsDeps) {
  const documents = new Recent<string, Client>(DOCUMENTS_MAX, { clock, forMs: DOCUMENT_MS })

  async function fromAddress(address: string): Promise<Client> {
    const known = documents.get(address)
    if (known !== undefined) return known
    const request = { url: address, headers: { accept: 'application/json' }, limits: LIMITS }
    const { status, body } = await outbound.send(request).catch((error: unknown) => {
      const reason = error instanceof DomainError ? error.message : 'The request failed.'
      const refuse = error instanceof DomainError && AWAY.has(error.code) ? clientUnavailable : clientRefused
      throw refuse(`The client's metadata document cannot be read. ${reason}`, error)
    })
    if (status >= 500) {
      throw clientUnavailable(`The client's metadata document cannot be read: its server answered ${String(status)}.`)
    }
    if (status !== 200) throw clientRefused(`The client's metadata document has status ${String(status)}.`)
    const client = fromDocument(address, body.toString('utf8'))
    if (typeof client === 'string') throw clientRefused(`The client's metadata document is invalid. ${client}`)
    documents.put(address, client)
    return client
  }

  async function registered(id: string): Promise<Client> {
    const client = await store.find(id)
    if (client === null) throw clientRefused('This client is unknown: register it again.')
    return client
  }

  return {
    find: (id: string): Promise<Client> => (isDocumentAddress(id) ? fromAddress(id) : registered(id)),

    /**
     * For the token endpoint and for revoking, which compare a grant's own terms: they need nothing of a document, whose
     * server may be away. A client that is refused there throws its tokens away.
     */
    async identify(id: string): Promise<Client> {
      return isDocumentAddress(id) ? { id, name: id, redirectUris: [] } : await registered(id)
    },

    async register(said: unknown): Promise<Client> {
      const client = toClient(`mcp_${randomBytes(16).toString('base64url')}`, said)
      if (typeof client === 'string') throw clientMetadataRefused(client)
      await store.add(client, new Date(clock.now().getTime() + UNUSED_MS))
      return client
    },
  }
}

export type Clients = ReturnType<typeof createClients>

interface ClientsDeps {
  store: ClientStore
  clock: Clock
  outbound: Outbound
}

/** The codes of a server that cannot be reached now. */
const AWAY: ReadonlySet<string> = new Set([
  'address_unresolvable',
  'connect_timeout',
  'connection_failed',
  'response_timeout',
])
const LIMITS = { totalMs: 5_000, bodyBytes: 16_384 }
/** Anyone can register any number of clients, so one that no owner allows anything is soon removed. */
const UNUSED_MS = 86_400_000
const DOCUMENTS_MAX = 500
const DOCUMENT_MS = 5 * 60_000
