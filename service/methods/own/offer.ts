import { randomBytes } from 'node:crypto'
import type { MethodName } from '../../sales/model.ts'
import type { Method } from '../../sales/ports.ts'
import { prepareEscrow } from '../../x402/escrow.ts'
import type { Presented, Requirements } from '../../x402/model.ts'
import type { OwnDeps } from './deps.ts'
import { verifyHere } from './verify.ts'

/** New payments, which this service's own facilitator settles. */
export function offerHere(deps: OwnDeps): Method {
  const { facilitator } = deps
  return {
    digestOf: (signed) => facilitator.purchases.digestOf(signed),
    digestBy: (network, payer, nonce) => facilitator.purchases.digestBy(network, payer, nonce),
    verify: (request) => verifyHere(deps, request),
    choose: (presented, requirements) => ({ method: nameOf(presented, requirements), facilitator: null }),
    serves: (network) => facilitator.serves(network),
    escrow: {
      operator: () => facilitator.sponsors()[0] ?? null,
      prepare: (terms, now) =>
        prepareEscrow(terms, { salt: `0x${randomBytes(32).toString('hex')}`, now, hashes: facilitator.escrow }),
    },
  }
}

function nameOf({ challenge }: Pick<Presented, 'challenge'>, { escrow }: Pick<Requirements, 'escrow'>): MethodName {
  if (escrow !== undefined) return 'auth-capture'
  return challenge === null ? 'exact' : 'mpp-charge'
}
