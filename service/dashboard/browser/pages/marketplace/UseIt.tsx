import { Card, Code } from '../../parts/layout.tsx'
import { Copy } from '../../parts/values.tsx'
import { settings } from '../../settings.ts'
import { linesOf } from './lines.ts'
import type { Asset } from './RunPanel.tsx'

/** Lines to copy that run the asset with inputs that it takes, one language open at a time. */
export function UseIt({ asset }: { asset: Asset }) {
  return (
    <Card title="Use it">
      {linesOf(asset, settings.apiUrl).map(({ label, source }) => {
        const isNode = label === 'n8n'
        return (
          <details key={label} name="use" open={isNode} className="mb-2">
            <summary className="cursor-pointer font-medium">{isNode ? 'Use it in n8n' : label}</summary>
            <div className="my-1 flex items-center justify-between gap-2">
              <span className="text-[0.8125rem] text-quiet">
                {isNode
                  ? 'Copy this and paste it into a workflow. The package n8n-nodes-coinslot must be installed.'
                  : 'COINSLOT_KEY is your API key.'}
              </span>
              <Copy value={source} label={`Copy the code for ${label}`} />
            </div>
            <Code>{source}</Code>
          </details>
        )
      })}
      {asset.pricing.model !== 'free' && (
        <p className="text-[0.8125rem] break-words text-quiet">
          Programs without an account pay with x402: POST {settings.apiUrl}/rda/{asset.slug}/run
        </p>
      )}
    </Card>
  )
}
