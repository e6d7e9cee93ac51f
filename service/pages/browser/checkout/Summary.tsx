import type { CheckoutPage } from '../../model.ts'
import { inUsdc, shortly } from '../../../ui-kit/format.ts'
import { isTestNetwork, networkName } from '../../../ui-kit/networks.ts'
import { CoinMark } from './Icons.tsx'

/** The product and its price, above the form or beside it. */
export function Summary({ page }: { page: CheckoutPage }) {
  const { product, price } = page.checkout
  return (
    <section class="summary column" aria-label="What you pay for">
      <p class="tile" aria-hidden="true">
        {Array.from(product.name)[0]?.toUpperCase()}
      </p>
      <div class="heading">
        <h1>{product.name}</h1>
        <p class="price">
          <span class="amount">{inUsdc(price)}</span> <span class="unit">USDC</span>
        </p>
      </div>
      {product.description !== null && <p class="description">{product.description}</p>}
    </section>
  )
}

/**
 * The recipient and the method. After the form in the document, wherever it is shown: a slow phone that has read only
 * half of the page would otherwise show it, and then push it down.
 */
export function Terms({ page }: { page: CheckoutPage }) {
  const { chainId, recipient, explorer, testMode, mcp, capture } = page.checkout
  return (
    <section class="terms column" aria-label="Terms">
      <dl class="facts">
        <div>
          <dt>Network</dt>
          <dd>
            {networkName(chainId)}
            {isTestNetwork(chainId) && !testMode && <span class="badge">Test tokens</span>}
          </dd>
        </div>
        {recipient !== null && (
          <div>
            <dt>Paid to</dt>
            <dd>
              <a
                class="mono"
                href={`${explorer}/address/${recipient}`}
                target="_blank"
                rel="noreferrer noopener"
                title={recipient}
              >
                {shortly(recipient)}
                <span class="unseen"> (opens the block explorer)</span>
              </a>
            </dd>
          </div>
        )}
        {capture === 'onSuccess' && (
          <div>
            <dt>Charged</dt>
            <dd>Only if your order succeeds</dd>
          </div>
        )}
        {capture === 'escrow' && (
          <div>
            <dt>Charged</dt>
            <dd>Only if your order succeeds. Until then your money waits in a contract.</dd>
          </div>
        )}
        {page.trackRecord != null && (
          <div>
            <dt>Latest sales</dt>
            <dd>
              {page.trackRecord.sales}+, {page.trackRecord.refundedPercent}% refunded,{' '}
              {page.trackRecord.disputedPercent}% disputed
            </dd>
          </div>
        )}
        <div>
          <dt>Network fee</dt>
          <dd>None</dd>
        </div>
      </dl>
      {mcp !== null && <ForModels {...mcp} />}
      <p class="maker">
        <CoinMark /> Powered by Coinslot
      </p>
    </section>
  )
}

/** How to add it to an AI assistant, as a tool that buys it. */
function ForModels({ url, tool }: { url: string; tool: string }) {
  const settings = JSON.stringify({ mcpServers: { [tool]: { url } } }, null, 2)
  return (
    <details class="models">
      <summary>Use it from an AI assistant</summary>
      <p class="quiet">
        Each call is one purchase. It is paid by the assistant’s wallet, or by your Coinslot account if you add an API
        key.
      </p>
      <dl>
        <dt>Claude and ChatGPT, as a connector; n8n, in the MCP Client Tool</dt>
        <dd class="mono">{url}</dd>
        <dt>Claude Code</dt>
        <dd class="mono">{`claude mcp add --transport http ${tool} ${url}`}</dd>
        <dt>Cursor, in mcp.json</dt>
        <dd class="mono">{settings}</dd>
      </dl>
    </details>
  )
}
