import { z } from 'zod'
import { ONE_LINE } from '../../kit/text.ts'
import type { Client } from '../model.ts'

/** Whether a client is named by the address of its metadata document. */
export function isDocumentAddress(id: string): boolean {
  if (!id.startsWith('https://') || id.length > ADDRESS_MAX || !URL.canParse(id)) return false
  const { pathname, hash, username, password, href } = new URL(id)
  // Only the one spelling that a URL parser writes: the address is compared as text.
  return href === id && pathname !== '/' && hash === '' && username === '' && password === ''
}

/** Reads what a client says about itself, or returns the fault. */
export function toClient(id: string, said: unknown): Client | string {
  const read = metadata.safeParse(said)
  if (!read.success) {
    const [issue] = read.error.issues
    return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is invalid'}`
  }
  const { client_name: name, redirect_uris: redirectUris } = read.data
  return { id, name: name ?? 'MCP client', redirectUris }
}

/** Reads the document at a client's address, or returns the fault. */
export function fromDocument(address: string, text: string): Client | string {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  const named = (said as { client_id?: unknown } | null)?.client_id
  return named === address ? toClient(address, said) : 'client_id: must be the address of the document'
}

const redirectUri = z
  .string()
  .max(512)
  .refine(
    isRedirect,
    'must be an https address, an http address of this machine, or the scheme of an app with a dot (com.example.app:), without a fragment',
  )

const metadata = z.object({
  client_name: z.string().trim().min(1).max(80).regex(ONE_LINE, 'must be one line of text').optional(),
  redirect_uris: z.array(redirectUri).min(1).max(20),
  token_endpoint_auth_method: z
    .literal('none', { error: 'must be none: only public clients are supported' })
    .optional(),
})

export function isRedirect(text: string): boolean {
  if (!URL.canParse(text) || text.includes('#')) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  if (protocol === 'http:') return LOOPBACK.has(hostname)
  return protocol === 'https:' || isOfAnApp(protocol)
}

/**
 * An app's scheme is a domain name of its maker, reversed (RFC 8252, 7.1). So it has a dot, which no scheme has that a
 * browser or an operating system handles itself, such as `javascript:`, `intent:` or `ms-settings:`.
 */
function isOfAnApp(protocol: string): boolean {
  return protocol.includes('.') || WITHOUT_DOT.has(protocol)
}

const ADDRESS_MAX = 512
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
/** Of MCP clients that register such a scheme, and would be refused with all their addresses. */
const WITHOUT_DOT = new Set(['claude:', 'cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:'])
