import type { Address, Hex, SignedAuthorization } from '../../chain/model.ts'
import { givenUpAfter, type Network } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Sale } from '../../sales/model.ts'
import type { RequestBody } from '../../x402/model.ts'

export interface RemoteDeps {
  /** A POST of JSON. Rejects when no answer arrives in time; `json` is undefined when the answer is not JSON. */
  post(url: string, body: unknown, operation: string | null): Promise<{ status: number; json: unknown }>
  /** Null if only the facilitator can be queried: its answer has to be trusted then, as on a chain that is not read. */
  verifier: ChainVerifier | null
  digestOf(network: Network, authorization: SignedAuthorization): Hex
  /** For chains where payer and nonce identify an authorization. */
  digestBy?: (network: Network, payer: Address, nonce: Hex) => Hex
  clock: Clock
}

/** Reads the state of an authorization from the chain itself. */
export interface ChainVerifier {
  /** Whether there is a way to ask this chain at all. */
  reads(network: Network): boolean
  /** Null when the chain cannot be read. */
  look(network: Network, authorization: SignedAuthorization): Promise<ChainEvidence | null>
  /** Whether a contract verifies the payer's signatures; null when the chain cannot be reached. */
  payerHasCode(network: Network, authorization: SignedAuthorization): Promise<boolean | null>
}

/**
 * `used`: this payment reached its recipient. `spent`: it was cancelled, or paid for something else. `taken`: one of these, and
 * which one cannot be read now. `over`: unused, and it can never be used any more, whichever branch of the chain goes on.
 */
export type ChainEvidence = { state: 'used'; txHash: Hex } | { state: 'spent' | 'taken' | 'over' | 'unused' }

/** Whether no block can take it any more, also in a branch that replaces this one. */
export function isOver({ validBefore }: Pick<SignedAuthorization, 'validBefore'>, seconds: bigint): boolean {
  return seconds > givenUpAfter(validBefore)
}

/** A payment at the facilitator with this address. */
export interface RemotePayment {
  facilitator: string
  request: RequestBody
}

/** The answer of the facilitator; status 0 without one. */
export async function askFacilitator(
  { post }: Pick<RemoteDeps, 'post'>,
  url: string,
  body: RequestBody,
  operation: string | null,
): Promise<{ status: number; json: unknown }> {
  try {
    return await post(url, body, operation)
  } catch {
    return { status: 0, json: undefined }
  }
}

export function remotePaymentOf(sale: Pick<Sale, 'request' | 'facilitator'>, unnamed: string | null): RemotePayment {
  const { request } = sale
  const facilitator = sale.facilitator ?? unnamed
  if (request === null || facilitator === null) throw new Error('a sale at another facilitator does not name it')
  return { request, facilitator }
}
