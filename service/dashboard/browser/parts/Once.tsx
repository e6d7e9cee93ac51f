import { useState } from 'react'
import { Button } from './Button.tsx'
import { Copy } from './figures.tsx'
import { Notice } from './states.tsx'

interface OnceProps {
  /** Null where the answer that had it got lost: what was made is there, and nobody can say its secret any more. */
  secret: string | null
  note: string
  /** What to do then. */
  lost: string
  close: () => void
}

/** A secret in the only moment in which it is shown. */
export function Once({ secret, note, lost, close }: OnceProps) {
  const [kept, setKept] = useState(false)
  if (secret === null) {
    return (
      <div className="space-y-4">
        <Notice tone="warn">It was made, but the answer with its secret never arrived. {lost}</Notice>
        <div className="flex justify-end">
          <Button look="main" onClick={close}>
            Understood
          </Button>
        </div>
      </div>
    )
  }
  return (
    <div className="space-y-4">
      <Notice tone="warn">{note}</Notice>
      <div className="flex items-center gap-2 rounded-lg bg-sunk p-3">
        <code className="min-w-0 flex-1 font-mono text-[0.8125rem] break-all select-all">{secret}</code>
        <Copy value={secret} label="Copy the secret" />
      </div>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={kept}
          onChange={(event) => setKept(event.target.checked)}
        />
        I have saved it
      </label>
      <div className="flex justify-end">
        <Button look="main" disabled={!kept} onClick={close}>
          Done
        </Button>
      </div>
    </div>
  )
}
