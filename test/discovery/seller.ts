import type { ServerResponse } from 'node:http'
import { Stranger, type ReceivedRequest } from '../harness/stranger.ts'

export interface FakeOffer {
  headers: Record<string, string>
  body: unknown
}

/** A seller outside: it answers a path that it sells with a 402. */
export class FakeSeller extends Stranger {
  readonly offers = new Map<string, FakeOffer>()
  /** In place of 402, for a seller that fails. */
  status = 402

  protected answer({ path }: ReceivedRequest, response: ServerResponse): void {
    const offer = this.offers.get(path)
    response.writeHead(offer === undefined ? 404 : this.status, {
      'content-type': 'application/json',
      ...offer?.headers,
    })
    response.end(JSON.stringify(offer?.body ?? {}))
  }
}

/** A 402 of version 2. */
export function offerOf(accepts: object | readonly object[], about: object): FakeOffer {
  const required = { x402Version: 2, accepts: [accepts].flat(), ...about }
  return {
    headers: { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') },
    body: {},
  }
}
