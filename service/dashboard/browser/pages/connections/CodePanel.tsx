import { useEffect } from 'react'
import { useRead } from '../../api/procedures.ts'
import { Button, OutButton } from '../../parts/Button.tsx'
import { Notice } from '../../parts/states.tsx'
import { Copy } from '../../parts/values.tsx'

export interface ShownCode {
  /** The connection's. */
  id: string
  authorizationUrl: string
  userCode: string
  expiresAt: string
}

/** A code that a person enters at the provider. The service learns by itself when they have. */
export function CodePanel({
  code: { id, authorizationUrl, userCode, expiresAt },
  name,
  anew,
  done,
}: {
  code: ShownCode
  name: string
  anew: () => void
  done: () => void
}) {
  const { data } = useRead('connections.list', { limit: 100, offset: 0 }, { refetchInterval: 2_000 })
  const connection = data?.connections.find((one) => one.id === id)
  const isActive = connection?.state === 'active' || connection?.state === 'refreshing'
  useEffect(() => {
    if (isActive) done()
  }, [isActive, done])
  const failure = connection?.state === 'pending' || connection?.state === 'expired' ? connection.failure : null
  const isOver = data !== undefined && connection === undefined && Date.now() > Date.parse(expiresAt)
  return (
    <div className="space-y-4">
      {failure !== null || isOver ? (
        <>
          <Notice tone="bad">{failure ?? 'The code was not entered in time. Connect again.'}</Notice>
          <div className="flex justify-end">
            <Button variant="main" onClick={anew}>
              Get a new code
            </Button>
          </div>
        </>
      ) : (
        <>
          <p>Open {name} and enter this code there:</p>
          <p className="flex items-center justify-center gap-2 rounded-lg bg-sunk px-4 py-5">
            <code className="min-w-0 font-mono text-2xl font-semibold tracking-widest break-all">{userCode}</code>
            <Copy value={userCode} label="Copy code" />
          </p>
          <OutButton href={authorizationUrl}>Open {new URL(authorizationUrl).host}</OutButton>
          <p role="status" className="text-quiet">
            Waiting for you to enter the code. This page then continues automatically.
          </p>
        </>
      )}
    </div>
  )
}
