import { connect } from 'node:tls'

export interface Certificate {
  readonly endsAt: Date
  /** Null where clients accept it; otherwise why they refuse it. */
  readonly refusal: string | null
}

/**
 * The certificate that a server shows for a host, also one that clients refuse. Nothing is sent. For addresses of the
 * operator alone: it goes wherever the host's name leads.
 */
export async function certificateOf(
  { hostname, port }: { hostname: string; port: number },
  timeoutMs: number,
): Promise<Certificate> {
  return await new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    const socket = connect({ host, port, servername: /[a-z]/i.test(host) ? host : '', rejectUnauthorized: false })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer in time')))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const { valid_to: endsAt } = socket.getPeerCertificate()
      const { authorized, authorizationError } = socket
      resolve({ endsAt: new Date(endsAt), refusal: authorized ? null : String(authorizationError) })
      socket.destroy()
    })
  })
}
