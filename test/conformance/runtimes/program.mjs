/**
 * What a seller and a buyer do with the client, in any runtime: nothing of it is one runtime's own. The result has no ids,
 * so that those of two runtimes can be compared.
 */
export async function useClient({ Coinslot, verifyWebhook, CoinslotError }, setup) {
  const seller = new Coinslot({ key: setup.key, baseUrl: setup.baseUrl })
  const agent = new Coinslot({ key: setup.agentKey, baseUrl: setup.baseUrl })
  const prices = []
  for (const price of [1, 2, 3, 4, 5]) {
    const { checkout } = await seller.checkouts.create({
      callbackUrl: 'http://127.0.0.1:9/hook',
      product: { name: `Zürich ${price}` },
      price,
      network: 'base-sepolia',
      recipient: setup.recipient,
      testMode: true,
    })
    prices.push([checkout.product.name, checkout.price, /\/p\/chk_\w+$/.test(checkout.url)])
  }
  const listed = []
  for await (const { product } of seller.checkouts.list({ limit: 2 })) listed.push(product.name)
  const page = await seller.checkouts.list({ limit: 2 })

  const { body, headers, secret } = setup.webhook
  const event = await verifyWebhook(body, headers, secret)
  const asHeaders = await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret)
  const codeOf = (error) => [error.name, error.code, error instanceof CoinslotError && error.status]
  const forged = await verifyWebhook(`${body} `, headers, secret).catch(codeOf)

  const { output } = await agent.tools.call('acme-ping', {})
  const paid = await agent.fetch(setup.paidUrl, { method: 'POST', body: { q: 1 }, maxAmount: 1 })
  const dear = await agent.fetch(setup.paidUrl, { method: 'POST', body: { q: 2 }, maxAmount: 0.001 }).catch(codeOf)

  const wrong = await seller.checkouts.create({ price: -1 }).catch((error) => Object.keys(error.details).sort())
  const stranger = new Coinslot({ key: 'csk_test_wrong', baseUrl: setup.baseUrl })
  const refused = await stranger.payments.get('pay_none').catch(codeOf)
  const nowhere = new Coinslot({ key: setup.key, baseUrl: setup.closedUrl })
  const unanswered = await nowhere.payments.get('pay_none', { retries: 0 }).catch(codeOf)
  const stopped = await seller.checkouts
    .list({}, { signal: AbortSignal.abort(new Error('no longer needed')) })
    .then(() => 'not stopped', String)
  return {
    prices,
    listed: listed.sort(),
    page: [page.items.length, page.total],
    event,
    asHeaders,
    forged,
    output: typeof output,
    paid: [paid.status, await paid.json()],
    dear,
    wrong,
    refused,
    unanswered,
    stopped,
  }
}
