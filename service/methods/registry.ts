import type { Schemes } from '../facilitator/ports.ts'
import type { SchemeDeps } from '../facilitator/service/deps.ts'
import type { PaymentMethod, MethodName } from '../sales/model.ts'
import type { Methods, SaleMethod } from '../sales/ports.ts'
import { accountMethod, type AccountMoney } from './account/settle.ts'
import { authCaptureScheme, type AuthCapture } from './auth-capture/scheme.ts'
import { escrowMethod } from './auth-capture/settle.ts'
import { exactScheme } from './exact/scheme.ts'
import { ownMethod } from './own/settle.ts'
import type { OwnDeps } from './own/offer.ts'
import type { RemoteDeps } from './remote/deps.ts'
import { remoteMethod } from './remote/settle.ts'
import { simulatedMethod } from './simulated/settle.ts'
import { uptoScheme, type PermitOffer } from './upto/scheme.ts'
import { uptoMethod } from './upto/settle.ts'

/** Every scheme of x402 that this service's own facilitator settles. */
export function createSchemes(deps: SchemeDeps): Schemes & { authCapture: AuthCapture; permits: PermitOffer } {
  const exact = exactScheme(deps)
  const authCapture = authCaptureScheme(deps)
  const upto = uptoScheme(deps)
  return {
    authCapture,
    permits: upto.permits,
    all: [exact, authCapture, upto],
    for: ({ required }) =>
      required.scheme === 'upto' ? upto : required.scheme === 'auth-capture' ? authCapture : exact,
    of: ({ operation }) => (operation === null ? exact : operation.type === 'upto' ? upto : authCapture),
  }
}

/** Every method by which a sale can have begun, whatever new payments are offered. */
export function createMethods({ own, remote, accounts, gates }: MethodDeps): Methods {
  const methods: Readonly<Record<MethodName, SaleMethod>> = {
    exact: ownMethod(own),
    'auth-capture': escrowMethod(own),
    'mpp-charge': ownMethod(own),
    upto: uptoMethod(own),
    remote: remoteMethod(remote, gates),
    account: accountMethod(accounts),
    simulated: simulatedMethod(remote),
    free: freeMethod(),
  }
  return { of: (sale) => methods[withFacilitator(sale, gates).method] }
}

/** A gate's sale from before its facilitator was stored is settled where gates are settled now. */
export function withFacilitator({ method, facilitator }: PaymentMethod, gates: string | null): PaymentMethod {
  if (method !== 'remote' || facilitator !== null) return { method, facilitator }
  return gates === null ? { method: 'exact', facilitator: null } : { method, facilitator: gates }
}

/** Sales that cost nothing, because their buyer has a right to them. */
function freeMethod(): SaleMethod {
  return {
    signed: false,
    simulated: false,
    verify: () => Promise.reject(new Error('nobody signs for a free sale')),
    settle: ({ id }) => Promise.resolve({ status: 'settled', txHash: `free:${id}` }),
  }
}

interface MethodDeps {
  own: OwnDeps
  remote: RemoteDeps
  accounts: AccountMoney
  /** The facilitator of gates. Null where it is this service's own. */
  gates: string | null
}
