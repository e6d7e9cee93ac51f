import { jsonOrUndefined } from '../kit/json-shape.ts'
import { offerHere, type OwnDeps } from '../methods/own/offer.ts'
import type { AccountMoney } from '../methods/account/settle.ts'
import { createMethods } from '../methods/registry.ts'
import type { RemoteDeps } from '../methods/remote/deps.ts'
import { offerRemote } from '../methods/remote/offer.ts'
import { outboundClient } from '../outbound/client.ts'
import type { Method, Methods } from '../sales/ports.ts'
import { chainVerifierOf } from './chain-verifier.ts'
import type { Chains } from './chains.ts'
import type { Part, Platform } from './platform.ts'

/** What new payments are offered, and how every sale that has begun goes on. */
export function openMethods(platform: Platform, { own, chains, accounts }: Opened): OpenedMethods {
  // Operators configure these addresses, so unlike users' addresses they may be on a private network.
  const client = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  const remote = remoteDeps(platform, chains, client)
  const gates = platform.config.GATE_FACILITATOR_URL ?? null
  const method = offerHere(own)
  return {
    methods: createMethods({ own, remote, accounts, gates }),
    method,
    gateMethod: gates === null ? method : offerRemote(remote, gates),
    part: { stop: () => client.close() },
  }
}

interface Opened {
  own: OwnDeps
  chains: Chains
  accounts: AccountMoney
}

export interface OpenedMethods {
  methods: Methods
  /** For new payments. */
  method: Method
  /** The same at gates. */
  gateMethod: Method
  part: Part
}

function remoteDeps(
  { clock, config }: Platform,
  chains: Chains,
  client: ReturnType<typeof outboundClient>,
): RemoteDeps {
  const timeoutMs = config.GATE_FACILITATOR_TIMEOUT_MS
  const limits = { totalMs: timeoutMs, headersMs: timeoutMs, bodyBytes: 65_536 }
  return {
    async post(url, body, operation) {
      const idempotent = operation === null ? {} : { 'idempotency-key': operation }
      const headers = { 'content-type': 'application/json', ...idempotent }
      const answer = await client.send({ url, method: 'POST', headers, body: JSON.stringify(body), limits })
      return { status: answer.status, json: jsonOrUndefined(answer.body.toString('utf8')) }
    },
    verifier: chainVerifierOf(chains),
    digestOf: (network, authorization) => chains.signatures.digest(network, authorization),
    clock,
  }
}
