import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../api/procedures.ts'
import { Button } from '../parts/Button.tsx'
import { Page } from '../parts/layout.tsx'
import { toast } from '../shell/toast.ts'

/** A provider sends the person back here. The query is good once and leaves the address at once. */
export default function ConnectionCallback() {
  const [, go] = useLocation()
  const began = useRef(false)
  const { mutate, error } = useAction('connections.finish', {
    changes: ['connections.'],
    quiet: true,
    done: ({ name }) => {
      toast({ tone: 'good', text: `${name} is connected.` })
      go('/connections', { replace: true })
    },
  })
  useEffect(() => {
    if (began.current) return
    began.current = true
    const query = window.location.search.slice(1)
    window.history.replaceState(null, '', window.location.pathname)
    mutate({ query })
  }, [mutate])
  return (
    <Page title="Connecting" intro={error === null ? 'Asking the provider for access…' : error.message}>
      {error !== null && (
        <Button variant="main" onClick={() => go('/connections')}>
          Go to connections
        </Button>
      )}
    </Page>
  )
}
