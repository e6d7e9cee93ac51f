import type { Hex } from '../../chain/model.ts'
import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Log, Measures } from '../../kit/log.ts'
import { transferRequest } from '../../x402/payload.ts'
import type { Sending } from '../model.ts'

/**
 * Has a signed transfer carried out. The same one may be sent as often as wanted: the chain takes it once. Returns the hash
 * if it is known. A refusal is not final, because a valid authorization may still be used: only `outcomeOf` says what became
 * of it. What a key of ours signed is tried again after the chain refused it.
 */
export async function send(
  { facilitator, log, measures }: SendDeps,
  { kind, network, signed, operation, waitMs }: Sending,
): Promise<Hex | null> {
  try {
    const answer = await facilitator.settle(transferRequest(network, signed), {
      operation,
      ownsResult: true,
      // A seller could make each attempt fail at the sponsor's cost, by moving the money away just before its block.
      retryFailed: kind !== 'refund_own',
      ...(waitMs === undefined ? {} : { waitMs }),
    })
    if (answer.status === 'failed') {
      log.warn({ operation, reason: answer.reason }, `${kind}: a transfer could not be sent; retrying`)
      measures.count(`${kind}_refused`)
    }
    return answer.txHash
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind === 'failed') throw error
    log.warn({ operation, code: error.code }, `${kind}: a transfer waits for the network`)
    return null
  }
}

export interface SendDeps {
  facilitator: Pick<Facilitator, 'settle'>
  log: Log
  measures: Measures
}
