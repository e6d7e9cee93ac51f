import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Network } from '../../service/chain/networks.ts'
import { challengesOf, paymentIn } from './challenges.ts'

/** A seller who asks for money by x402 or MPP, and then behaves as the path says. */
export class Seller {
  /** The payments that it received, by path, in order. */
  readonly payments = new Map<string, string[]>()
  /** Requests without a payment, by path. */
  readonly unpaidRequests = new Map<string, number>()
  private readonly server: Server
  private readonly network: Network
  private readonly recipient: string
  private readonly facilitator: () => string
  private readonly now: () => Date
  private readonly hanging = new Set<ServerResponse>()
  /** Also known after it has closed, when a settlement that it waited for comes back. */
  private port = 0

  constructor(network: Network, recipient: string, facilitator: () => string, now = () => new Date()) {
    this.network = network
    this.recipient = recipient
    this.facilitator = facilitator
    this.now = now
    this.server = createServer((request, response) => {
      void this.answer(request, response)
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    this.port = (this.server.address() as AddressInfo).port
    return this
  }

  url(path: string): string {
    return `http://127.0.0.1:${String(this.port)}${path}`
  }

  async close(): Promise<void> {
    for (const response of this.hanging) response.destroy()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  /** Settles an authorization that it received on chain, now. */
  async settle(path: string, place = 0): Promise<string> {
    const header = this.payments.get(path)?.[place]
    if (header === undefined) throw new Error(`nothing was shown at ${path}`)
    const paymentPayload = header.startsWith('Payment ')
      ? { x402Version: 2, ...paymentIn(header) }
      : JSON.parse(Buffer.from(header, 'base64').toString())
    const version = paymentPayload.x402Version as 1 | 2
    const paymentRequirements = version === 1 ? this.offer(1, path) : paymentPayload.accepted
    const response = await fetch(`${this.facilitator()}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ x402Version: version, paymentPayload, paymentRequirements }),
    })
    const settled = (await response.json()) as { success?: boolean; transaction?: string }
    if (settled.success !== true) throw new Error(`not settled: ${JSON.stringify(settled)}`)
    return settled.transaction ?? ''
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url ?? ''
    const { authorization } = request.headers
    const payment =
      request.headers['x-payment'] ??
      request.headers['payment-signature'] ??
      request.headers['payment-authorization'] ??
      (authorization?.startsWith('Payment ') === true ? authorization : undefined)
    if (typeof payment !== 'string') {
      this.unpaidRequests.set(path, (this.unpaidRequests.get(path) ?? 0) + 1)
      if (path === '/free') response.writeHead(200, { 'content-type': 'text/plain' }).end('for nothing')
      else if (path === '/plain-402') response.writeHead(402).end('pay up')
      else if (path === '/never') this.hanging.add(response)
      else if (path === '/hang-up-first') response.destroy()
      else this.requirePayment(response, path)
      return
    }
    this.payments.set(path, [...(this.payments.get(path) ?? []), payment])
    const [, , what = ''] = path.split('/')
    switch (what) {
      case 'raise':
        return this.requirePayment(response, path, { amount: '4000000' })
      case 'other-recipient':
        return this.requirePayment(response, path, { payTo: '0x00000000000000000000000000000000000000aa' })
      case 'again':
        return this.requirePayment(response, path)
      case 'settle-and-ask-again':
        await this.settle(path)
        return this.requirePayment(response, path)
      case 'once': {
        // As a stock seller does: sold when its facilitator says so, else asked for again.
        const isSettled = await this.settle(path).then(
          () => true,
          () => false,
        )
        if (!isSettled) return this.requirePayment(response, path)
        response.writeHead(200).end('sold')
        return
      }
      case 'settle-and-500':
        await this.settle(path)
        response.writeHead(500).end('sorry')
        return
      case '500':
        response.writeHead(500).end('sorry')
        return
      case 'silence':
        this.hanging.add(response)
        return
      case 'hang-up':
        response.destroy()
        return
      case 'settle-and-hang-up':
        await this.settle(path)
        response.destroy()
        return
      default: {
        const reference = await this.settle(path, (this.payments.get(path)?.length ?? 1) - 1)
        const body = Buffer.concat(chunks).toString()
        const receipt = { method: 'evm', reference, status: 'success', timestamp: this.now().toISOString() }
        const result = { success: true, transaction: reference }
        response
          .writeHead(200, {
            'content-type': 'application/json',
            ...(payment.startsWith('Payment ')
              ? { 'payment-receipt': Buffer.from(JSON.stringify(receipt)).toString('base64url') }
              : { 'payment-response': Buffer.from(JSON.stringify(result)).toString('base64') }),
          })
          .end(JSON.stringify({ sold: true, method: request.method, body }))
      }
    }
  }

  private requirePayment(
    response: ServerResponse,
    path: string,
    changes: { amount?: string; payTo?: string } = {},
  ): void {
    const [, , what = ''] = path.split('/')
    if (path.startsWith('/mpp') || path.startsWith('/both')) {
      response.setHeader(
        'www-authenticate',
        challengesOf(what, {
          network: this.network,
          amount: changes.amount ?? (what === 'dear' ? '1000001' : what === 'cheaper' ? '200000' : '250000'),
          recipient: changes.payTo ?? this.recipient,
          realm: new URL(this.url(path)).host,
          now: this.now(),
        }),
      )
    }
    if (path.startsWith('/mpp')) response.writeHead(402).end('{}')
    else if (path.startsWith('/v1')) {
      const offer = this.offer(1, path)
      const changed = {
        ...offer,
        ...(changes.amount === undefined ? {} : { maxAmountRequired: changes.amount }),
        ...(changes.payTo === undefined ? {} : { payTo: changes.payTo }),
      }
      response
        .writeHead(402, { 'content-type': 'application/json' })
        .end(JSON.stringify({ x402Version: 1, error: 'pay', accepts: [changed] }))
    } else {
      const required = {
        x402Version: 2,
        error: 'pay',
        resource: { url: this.url(path) },
        accepts: [{ ...this.offer(2, path), ...changes }],
      }
      response
        .writeHead(402, { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') })
        .end('{}')
    }
  }

  private offer(version: 1 | 2, path: string): Record<string, unknown> {
    const [, , what = ''] = path.split('/')
    const { usdc, name, caip2 } = this.network
    const price = what === 'dear' ? '1000001' : '250000'
    const common = {
      scheme: what === 'scheme' ? 'upto' : 'exact',
      asset: what === 'asset' ? '0x00000000000000000000000000000000000000bb' : usdc.checksummed,
      payTo: what === 'nobody' ? '0x0000000000000000000000000000000000000000' : this.recipient,
      maxTimeoutSeconds: 60,
      extra: { name: what === 'domain' ? 'Other Coin' : usdc.name, version: usdc.version },
    }
    const network = what === 'network' ? (version === 1 ? 'base' : 'eip155:8453') : version === 1 ? name : caip2
    if (version === 1)
      return {
        ...common,
        network,
        maxAmountRequired: price,
        resource: this.url(path),
        description: '',
        mimeType: '',
        outputSchema: null,
      }
    return { ...common, network, amount: price }
  }
}
