import { LockClosedIcon, TrashIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction, useRead } from '../../api/procedures.ts'
import { Badge } from '../../parts/Badge.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { inCounts } from '../../parts/values.tsx'
import { Card } from '../../parts/layout.tsx'
import { Confirm } from '../../parts/Modal.tsx'
import { toast } from '../../shell/toast.ts'
import { Credentials } from './Credentials.tsx'

/** The tools that this account imported. */
export function Own() {
  const { data } = useRead('tools.providers', undefined)
  const [removing, setRemoving] = useState<string | null>(null)
  const [keyed, setKeyed] = useState<string | null>(null)
  const remove = useAction('tools.removeProvider', {
    changes: ['tools.'],
    done: () => toast({ tone: 'good', text: 'Tools removed.' }),
  })
  const own = data?.filter((provider) => provider.own && provider.kind !== 'rda') ?? []
  if (own.length === 0) return null
  return (
    <Card title="Imported tools">
      <ul className="divide-y divide-line">
        {own.map(({ slug, name, kind, tools }) => (
          <li key={slug} className="flex items-center gap-3 py-1.5 first:pt-0 last:pb-0">
            <Link to={`/catalogue?provider=${slug}`} className="min-w-0 flex-1 truncate font-medium hover:underline">
              {name}
            </Link>
            <Badge>{kind === 'mcp' ? 'MCP' : 'OpenAPI'}</Badge>
            <span className="text-quiet tabular-nums">
              {inCounts(tools)} {tools === 1 ? 'tool' : 'tools'}
            </span>
            <IconButton label={`Key of ${name}`} onClick={() => setKeyed(slug)}>
              <LockClosedIcon />
            </IconButton>
            <IconButton label={`Remove ${name}`} onClick={() => setRemoving(slug)}>
              <TrashIcon />
            </IconButton>
          </li>
        ))}
      </ul>
      {keyed !== null && <Credentials provider={keyed} close={() => setKeyed(null)} />}
      <Confirm
        title="Remove these tools?"
        act="Remove tools"
        open={removing !== null}
        close={() => setRemoving(null)}
        confirm={() => {
          if (removing !== null) remove.mutate({ id: removing })
        }}
      >
        Calls of them are refused from now on.
      </Confirm>
    </Card>
  )
}
