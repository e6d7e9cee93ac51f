import { x402Facilitator } from '@x402/core/facilitator'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmSchemeV1 as ExactFacilitatorV1 } from '@x402/evm/exact/v1/facilitator'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import { UptoEvmScheme as UptoFacilitator } from '@x402/evm/upto/facilitator'
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureEIP712,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureEIP712,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import {
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  withBazaar,
} from '@x402/extensions/bazaar'
import { wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { createWalletClient, http, multicall3Abi, publicActions, serializeErc6492Signature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base, baseSepolia } from 'viem/chains'
import { answer } from '../answer.mjs'

answer({
  /** Pays with the stock client, and shows what it sent so that it can be sent again. */
  async buy({ url, privateKey, request = {}, hold = false, signsIn = false, rpc, scheme }) {
    let header = null
    const listening = (input, init) => {
      const sent = new Request(input, init)
      header = sent.headers.get('payment-signature') ?? header
      // Signed, and not sent: the test sends it.
      if (hold && header !== null) return Response.json({ held: true })
      return fetch(sent)
    }
    const account = privateKeyToAccount(privateKey)
    const chosen = (_version, accepts) => accepts.find((terms) => terms.scheme === scheme) ?? accepts[0]
    const client = new x402Client(chosen)
      .register('eip155:*', new ExactEvmScheme(account))
      .register('eip155:*', new AuthCaptureEvmScheme(account))
      .register('eip155:*', new UptoEvmScheme(account, rpc === undefined ? undefined : { rpcUrl: rpc }))
    const sending = signsIn ? wrapFetchWithSIWx(listening, account) : listening
    const response = await wrapFetchWithPayment(sending, client)(url, request)
    const receipt = response.headers.get('payment-response')
    return {
      status: response.status,
      body: await response.json(),
      receipt: receipt === null ? null : decodePaymentResponseHeader(receipt),
      header: { name: 'PAYMENT-SIGNATURE', value: header },
      proof: {
        'x-payment-id': response.headers.get('x-payment-id'),
        'x-payment-token': response.headers.get('x-payment-token'),
      },
    }
  },

  /** What the stock verifiers make of the signed offers in a 402 and of a receipt in both forms. */
  async verify({ required, receipt, typed, payer, document }) {
    // The service's public address has no port here, so its DID document is handed over instead of fetched.
    globalThis.fetch = (address) =>
      Promise.resolve(String(address).endsWith('/.well-known/did.json') ? Response.json(document) : Response.error())
    const offers = extractOffersFromPaymentRequired(required)
    const decoded = decodeSignedOffers(offers)
    const [typedOffer, jsonOffer] = offers
    const json = await verifyReceiptSignatureJWS(receipt)
    return {
      offers: {
        typed: await verifyOfferSignatureEIP712(typedOffer),
        json: await verifyOfferSignatureJWS(jsonOffer),
        accepted: decoded.map((offer) => findAcceptsObjectFromSignedOffer(offer, required.accepts) !== undefined),
      },
      receipts: { typed: await verifyReceiptSignatureEIP712(typed), json },
      matches: decoded.map((offer) => verifyReceiptMatchesOffer(receipt, offer, [payer])),
    }
  },

  /** What the stock client signs for these requirements; `terms` stand in the signed message instead of its own. */
  async sign({ privateKey, requirements, terms, factory, factoryData = '0x12' }) {
    const account = privateKeyToAccount(privateKey)
    const signer = {
      address: terms.from ?? account.address,
      async signTypedData(data) {
        const signature = await account.signTypedData({ ...data, message: { ...data.message, ...numbers(terms) } })
        return factory === null
          ? signature
          : serializeErc6492Signature({ address: factory, data: factoryData, signature })
      },
    }
    const { payload } = await new ExactEvmScheme(signer).createPaymentPayload(2, requirements)
    return {
      x402Version: 2,
      resource: { url: 'https://seller.example/paid', description: 'A page', mimeType: 'application/json' },
      accepted: requirements,
      payload: { ...payload, authorization: { ...payload.authorization, ...terms } },
    }
  },

  /** The reason that the reference gives for the same request; null where it finds nothing wrong. */
  async judge({ body, ...at }) {
    const { isValid, invalidReason } = await reference(at).verify(body.paymentPayload, body.paymentRequirements)
    return isValid ? null : invalidReason
  },

  /** The reference settles it itself. */
  async settle({ body, ...at }) {
    return await reference(at).settle(body.paymentPayload, body.paymentRequirements)
  },

  async discover({ facilitator, list, search }) {
    const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url: facilitator })).extensions
    return search === undefined ? await bazaar.listResources(list) : await bazaar.search(search)
  },

  async describe({ bazaar, url }) {
    const payment = { x402Version: 2, resource: { url }, extensions: { bazaar } }
    return {
      fits: validateDiscoveryExtension(bazaar),
      isSpecified: validateDiscoveryExtensionSpec(bazaar),
      resource: extractDiscoveryInfo(payment, {})?.resourceUrl ?? null,
    }
  },
})

function reference({ rpc, privateKey, chainId, factories = [] }) {
  const account = privateKeyToAccount(privateKey)
  const chain = chainId === base.id ? base : baseSepolia
  const client = createWalletClient({ account, chain, transport: http(rpc) }).extend(publicActions)
  const signer = toFacilitatorEvmSigner({
    ...client,
    address: account.address,
    readContract: (call) => client.readContract(call.functionName === 'tryAggregate' ? aggregate3(call) : call),
  })
  return new x402Facilitator()
    .register(`eip155:${String(chain.id)}`, new ExactFacilitator(signer, { eip6492AllowedFactories: factories }))
    .register(`eip155:${String(chain.id)}`, new UptoFacilitator(signer))
    .registerV1(
      chain === base ? 'base' : 'base-sepolia',
      new ExactFacilitatorV1(signer, { eip6492AllowedFactories: factories }),
    )
}

/** Of Multicall3 the chain that this runs on has only the newer of two functions for the same question. */
function aggregate3({ address, args: [, calls] }) {
  const args = [calls.map((call) => ({ ...call, allowFailure: true }))]
  return { address, abi: multicall3Abi, functionName: 'aggregate3', args }
}

function numbers(terms) {
  const { validAfter, validBefore } = terms
  return {
    ...terms,
    ...(validAfter === undefined ? {} : { validAfter: BigInt(validAfter) }),
    ...(validBefore === undefined ? {} : { validBefore: BigInt(validBefore) }),
  }
}
