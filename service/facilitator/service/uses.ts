import type { Chain, SignedAuthorization } from '../../chain/model.ts'
import type { Uses } from '../ports.ts'

/** Of an authorization that the token itself takes (EIP-3009), from any sender. */
export function authorizationUses(chain: Chain, { from: payer, nonce }: SignedAuthorization): Uses {
  return {
    isSilent: false,
    isUsed: async () => (await chain.authorization(payer, nonce)).used,
    find: (block) => chain.findUse(payer, nonce, block),
    agreed: (search) => chain.agreedUse({ payer, nonce, ...search }),
  }
}
