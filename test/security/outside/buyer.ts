import { randomUUID } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import type { TestAccount } from '../../harness/chain.ts'
import type { TestService } from '../../harness/service.ts'

/** A program outside, which knows of a payment what its 402 and the chain said. */
export interface Purchase {
  payer: TestAccount
  /** The 402's header. */
  required: string
  txHash: string
  /** CAIP-2. */
  network: string
  amount: bigint
}

/** Asks for the money back as the 402 declares it. */
export async function askBack(
  { origin, clock }: Pick<TestService, 'origin' | 'clock'>,
  { payer, required, txHash, network, amount }: Purchase,
  reason = 'service_not_delivered',
): Promise<{ status: string; denialReason?: string }> {
  const { extensions } = JSON.parse(Buffer.from(required, 'base64').toString()) as {
    extensions: { refund: { info: { refundEndpoint: string } } }
  }
  const { refundEndpoint } = extensions.refund.info
  const [expiresAt, key] = [new Date(clock.now().getTime() + 600_000).toISOString(), randomUUID()]
  const message = [
    `${new URL(refundEndpoint).host} asks you to sign a refund request.`,
    '',
    `URI: ${refundEndpoint}`,
    `Transaction: ${txHash}`,
    `Network: ${network}`,
    'Payment: none',
    `Amount: ${String(amount)}`,
    `Reason: ${reason}`,
    'Refund To: payer',
    `Idempotency Key: ${key}`,
    `Expiration Time: ${expiresAt}`,
  ].join('\n')
  const payerSignature = await privateKeyToAccount(payer.privateKey).signMessage({ message })
  const body = {
    x402Version: 2,
    paymentReference: { txHash, network },
    ...{ amount: String(amount), reason, idempotencyKey: key, payerSignature, expiresAt },
  }
  // The public address of a test is that of another port.
  const response = await fetch(origin + new URL(refundEndpoint).pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { status: string; denialReason?: string }
}
