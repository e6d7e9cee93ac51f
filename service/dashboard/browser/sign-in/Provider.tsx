import { useEffect, useState } from 'react'
import { toFault } from '../api/fault.ts'
import { beginAtProvider } from '../api/session.ts'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/states.tsx'

/** Sign-in with the operator's OpenID Connect provider, where one is configured. */
export function Provider({
  name,
  next,
  entered,
}: {
  name: string
  next: string | undefined
  entered: () => Promise<void>
}) {
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const [elsewhere, setElsewhere] = useState(false)

  useEffect(() => {
    if (!elsewhere) return
    const look = (): void => void entered()
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [elsewhere, entered])

  const begin = async (): Promise<void> => {
    setBusy(true)
    setFault(null)
    // A page with typed text must not be left. The tab opens now, while the browser still allows it for this click.
    const tab = next === undefined ? window.open('', '_blank') : null
    try {
      const url = await beginAtProvider(next ?? '/')
      if (next !== undefined) {
        window.location.assign(url)
        return
      }
      if (tab !== null) tab.location.href = url
      setElsewhere(true)
    } catch (error) {
      tab?.close()
      setFault(toFault(error).message)
    }
    setBusy(false)
  }

  return (
    <div className="space-y-2">
      {fault !== null && <Notice tone="bad">{fault}</Notice>}
      <Button className="w-full" busy={busy} onClick={() => void begin()}>
        Sign in with {name}
      </Button>
      {elsewhere && (
        <p className="text-center text-[0.8125rem] text-quiet">Sign in in the new tab, and come back to this one.</p>
      )}
    </div>
  )
}
