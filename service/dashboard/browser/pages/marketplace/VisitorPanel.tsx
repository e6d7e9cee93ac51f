import { Badge } from '../../parts/Badge.tsx'
import { Card } from '../../parts/layout.tsx'
import { SignInLink } from '../../shell/OpenShell.tsx'
import { SharedInputs, type Asset } from './RunPanel.tsx'
import { Price } from './cells.tsx'

/** Shown before the sign-in: what a run needs, and what it costs. */
export function VisitorPanel({ asset }: { asset: Asset }) {
  return (
    <Card title="Inputs">
      <ul className="divide-y divide-line">
        {asset.schema.inputs.map(({ name, label, type, required, description }) => (
          <li key={name} className="py-2 first:pt-0">
            <span className="flex flex-wrap items-center gap-2">
              <span className="font-medium break-words">{label}</span>
              <Badge>{type}</Badge>
              <span className="text-[0.8125rem] text-quiet">{required ? 'Required' : 'Optional'}</span>
            </span>
            {description != null && <p className="text-[0.8125rem] break-words text-quiet">{description}</p>}
          </li>
        ))}
      </ul>
      {asset.sharesInputs && (
        <div className="mt-4">
          <SharedInputs />
        </div>
      )}
      <div className="mt-4 flex flex-wrap items-center gap-3">
        <SignInLink next={`/marketplace/${asset.slug}`} main>
          Sign in to run it
        </SignInLink>
        <Price pricing={asset.pricing} />
      </div>
    </Card>
  )
}
