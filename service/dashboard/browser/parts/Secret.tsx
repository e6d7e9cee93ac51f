import { useState } from 'react'
import { Button } from './Button.tsx'
import { Copy } from './values.tsx'
import { Notice } from './states.tsx'
import { Confirm, Modal } from './Modal.tsx'

interface OneTimeSecretProps {
  /** Null when the response with the secret was lost: the service shows a secret only once. */
  secret: string | null
  note: string
  /** What to do when it was lost. */
  lost: string
  close: () => void
}

/** Shows a secret the only time that it is visible. */
export function OneTimeSecret({ secret, note, lost, close }: OneTimeSecretProps) {
  const [isSaved, setSaved] = useState(false)
  if (secret === null) {
    return (
      <div className="space-y-4">
        <Notice tone="warn">It was created, but the response with its secret was lost. {lost}</Notice>
        <div className="flex justify-end">
          <Button variant="main" onClick={close}>
            Close
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
          checked={isSaved}
          onChange={(event) => setSaved(event.target.checked)}
        />
        I have saved it
      </label>
      <div className="flex justify-end">
        <Button variant="main" disabled={!isSaved} onClick={close}>
          Done
        </Button>
      </div>
    </div>
  )
}

/** Asks before it replaces a secret, then shows the new one. */
export function RotateSecret({
  id,
  open,
  note,
  rotate,
  close,
}: {
  /** The id of the record with the secret. */
  id: string
  open: boolean
  /** What happens to the old secret. */
  note: string
  rotate: {
    data: { secret: string } | undefined
    isPending: boolean
    mutate: (input: { id: string }) => void
    reset: () => void
  }
  close: () => void
}) {
  const leave = (): void => {
    rotate.reset()
    close()
  }
  if (rotate.data !== undefined) {
    return (
      <Modal title="New secret" open>
        <OneTimeSecret
          secret={rotate.data.secret}
          note="Copy it now. It is not shown again."
          lost="Rotate the secret again."
          close={leave}
        />
      </Modal>
    )
  }
  return (
    <Confirm
      title="Rotate the secret?"
      act="Rotate secret"
      open={open}
      busy={rotate.isPending}
      close={leave}
      confirm={() => rotate.mutate({ id })}
    >
      {note}
    </Confirm>
  )
}
