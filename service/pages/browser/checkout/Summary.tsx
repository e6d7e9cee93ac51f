import type { CheckoutPage } from '../../model.ts'
import { shortly } from '../../../ui-kit/format.ts'
import { isTestNetwork, networkName } from '../../../ui-kit/networks.ts'
import { figure, money, percent, say } from '../words/say.ts'
import { Legal, Seller } from './Brand.tsx'
import { CoinMark } from './Icons.tsx'
import { onThisHost, promiseOf } from './Result.tsx'

/** The product and its price, above the form or beside it. */
export function Summary({ page }: { page: CheckoutPage }) {
  const { local } = page
  const { product, picture } = page.checkout
  const { total } = page.lines ?? { total: page.checkout.price }
  return (
    <section class="summary column" aria-label={say('terms.whatYouPayFor')}>
      {page.brand != null && <Seller {...page.brand} />}
      {picture == null ? (
        <p class="tile" aria-hidden="true">
          {Array.from(product.name)[0]?.toUpperCase()}
        </p>
      ) : (
        <img class="picture" src={onThisHost(picture.url)} width={picture.width} height={picture.height} alt="" />
      )}
      <div class="heading">
        <h1>{product.name}</h1>
        <p class="price">
          <span class="amount">{figure(total)}</span> <span class="unit">USDC</span>
          {!isTestNetwork(page.checkout.chainId) && (
            <span class="about">
              {local == null
                ? say('terms.aboutDollar')
                : say('terms.about', { price: money(total * local.rate, local.currency) })}
            </span>
          )}
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
  const promise = promiseOf(page.checkout)
  return (
    <section class="terms column" aria-label={say('terms.terms')}>
      <dl class="facts">
        {promise !== null && (
          <div>
            <dt>{say('terms.youGet')}</dt>
            <dd>{promise}</dd>
          </div>
        )}
        <div>
          <dt>{say('terms.network')}</dt>
          <dd>
            {networkName(chainId)}
            {isTestNetwork(chainId) && !testMode && <span class="badge">{say('terms.testTokens')}</span>}
          </dd>
        </div>
        {page.brand?.name != null && (
          <div>
            <dt>{say('terms.soldBy')}</dt>
            <dd>{page.brand.name}</dd>
          </div>
        )}
        {recipient !== null && (
          <div>
            <dt>{say('terms.paidTo')}</dt>
            <dd>
              <a
                class="mono"
                href={`${explorer}/address/${recipient}`}
                target="_blank"
                rel="noreferrer noopener"
                title={recipient}
              >
                {shortly(recipient)}
                <span class="unseen"> {say('common.opensExplorer')}</span>
              </a>
            </dd>
          </div>
        )}
        {capture === 'onSuccess' && (
          <div>
            <dt>{say('terms.charged')}</dt>
            <dd>{say('terms.onSuccess')}</dd>
          </div>
        )}
        {capture === 'escrow' && (
          <div>
            <dt>{say('terms.charged')}</dt>
            <dd>{say('terms.escrow')}</dd>
          </div>
        )}
        {page.trackRecord != null && (
          <div>
            <dt>{say('terms.latestSales')}</dt>
            <dd>
              {say('terms.trackRecord', {
                customers: page.trackRecord.customers,
                refunded: percent(page.trackRecord.refundedPercent),
                disputed: percent(page.trackRecord.disputedPercent),
              })}
            </dd>
          </div>
        )}
        <div>
          <dt>{say('terms.networkFee')}</dt>
          <dd>{say('terms.none')}</dd>
        </div>
      </dl>
      {mcp !== null && <ForModels {...mcp} />}
      {page.brand != null && <Legal {...page.brand} />}
      <p class="maker">
        <CoinMark /> {say('terms.poweredBy')}
      </p>
    </section>
  )
}

/** How to add it to an AI assistant, as a tool that buys it. */
function ForModels({ url, tool }: { url: string; tool: string }) {
  const settings = JSON.stringify({ mcpServers: { [tool]: { url } } }, null, 2)
  return (
    <details class="models">
      <summary>{say('terms.assistant')}</summary>
      <p class="quiet">{say('terms.assistantHint')}</p>
      <dl>
        <dt>{say('terms.assistantConnector')}</dt>
        <dd class="mono">{url}</dd>
        <dt>Claude Code</dt>
        <dd class="mono">{`claude mcp add --transport http ${tool} ${url}`}</dd>
        <dt>{say('terms.assistantFile')}</dt>
        <dd class="mono">{settings}</dd>
      </dl>
    </details>
  )
}
