import type { PrivateKeyAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { post, type World } from './world.ts'

export type Fields = Partial<Parameters<typeof createSiweMessage>[0]>

/** The message that a wallet signs to sign in, as a browser writes it. */
export function messageOf(account: PrivateKeyAccount, nonce: string, fields: Fields = {}): string {
  const standard = { domain: 'localhost:4020', uri: 'http://localhost:4020', version: '1', chainId: 8453 } as const
  return createSiweMessage({ ...standard, address: account.address, nonce, issuedAt: new Date(), ...fields })
}

export async function nonceOf(world: World): Promise<string> {
  const { status, body } = await post(world, '/siwe/nonce')
  expect(status).toBe(200)
  return body['nonce'] as string
}

/** A message under a nonce of its own, signed. */
export async function proofOf(world: World, account: PrivateKeyAccount, fields: Fields = {}): Promise<Proof> {
  const message = messageOf(account, await nonceOf(world), fields)
  return { message, signature: await account.signMessage({ message }) }
}

export interface Proof {
  message: string
  signature: string
}
