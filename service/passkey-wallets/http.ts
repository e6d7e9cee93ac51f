import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import type { Address, Hex } from '../chain/model.ts'
import { recipientAddress } from '../kit/address.ts'
import { addressGroup } from '../kit/http.ts'
import type { Pages } from '../pages/pages.ts'
import type { PasskeyWallets } from './service.ts'

/** `/p/wallet`, for people who pay with a passkey: what they have, and how it goes elsewhere. */
export function passkeyWalletRoutes(wallets: PasskeyWallets, pages: Pick<Pages, 'wallet'>): AnyRoute[] {
  const common = { tag: 'Passkey wallets', auth: 'anyone', limit: 'pay' } as const
  return [
    route({
      ...common,
      method: 'get',
      path: '/wallet',
      summary: 'The page of a wallet whose only key is a passkey',
      query: z.object({ lang: z.string().optional().meta({ description: 'The language of the page' }) }),
      answers: { 200: z.object({}) },
      handle: ({ wantsPage, reader }) =>
        Promise.resolve(
          wantsPage
            ? { ...reply(200, null), page: pages.wallet(reader), headers: FRESH }
            : { ...reply(200, {}), headers: FRESH },
        ),
    }),
    route({
      ...common,
      method: 'get',
      path: '/wallet/:address',
      summary: 'What is in a wallet, on each network, and where to send USDC for it',
      params: z.object({ address: recipientAddress.transform(lower) }),
      answers: { 200: z.object({ wallet: walletOut }) },
      errors: { 503: 'No network answers.' },
      async handle({ params }) {
        return { ...reply(200, { wallet: await wallets.look(params.address) }), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/wallet/transfers',
      summary:
        'Send USDC from a passkey wallet to any address, signed by its passkey (EIP-3009); this service pays the gas',
      bodyBytesMax: 16_384,
      body: z.strictObject({
        chainId: z.int(),
        authorization: z.strictObject({
          from: recipientAddress.transform(lower),
          to: recipientAddress.transform(lower),
          value: number,
          validAfter: number,
          validBefore: number,
          nonce: z
            .string()
            .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
            .transform(lower),
        }),
        signature: z
          .string()
          .regex(/^0x([0-9a-fA-F]{2}){65,4096}$/, 'must be a signature of at most 4,096 bytes')
          .transform((text) => text as Hex)
          .meta({ description: 'In the envelope that deploys the wallet (ERC-6492), also once it is deployed' }),
      }),
      answers: {
        200: z.object({
          status: z
            .enum(['settled', 'pending', 'failed'])
            .meta({ description: '`pending`: send the same again to learn of its end' }),
          reason: z.string().nullable(),
          explorerUrl: z.string().nullable(),
        }),
      },
      errors: {
        429: 'The network fees that this service pays for the wallet or its caller are used up for today.',
        503: 'The network does not answer, or no sponsor can pay its fees.',
      },
      async handle({ body, address }) {
        const { chainId, authorization, signature } = body
        const sent = await wallets.send(chainId, { ...authorization, signature }, addressGroup(address))
        return { ...reply(200, sent), headers: FRESH }
      },
    }),
  ]
}

const FRESH = { 'Cache-Control': 'no-store' }

function lower(text: string): Address {
  return text.toLowerCase() as Address
}

const number = z
  .string()
  .regex(/^\d{1,30}$/, 'must be a whole number')
  .transform(BigInt)

const walletOut = z
  .object({
    address: z.string(),
    networks: z.array(
      z.object({
        network: z.string(),
        chainId: z.int(),
        units: z
          .string()
          .nullable()
          .meta({ description: 'The balance in micro-USDC; null where the network does not answer' }),
        asset: z.object({ address: z.string(), name: z.string(), version: z.string() }),
        link: z.string().meta({ description: 'Opens a wallet with a transfer to this one (EIP-681)' }),
        qr: z.string().meta({ description: 'The same as a QR code, in SVG' }),
      }),
    ),
  })
  .meta({ id: 'PasskeyWallet' })
