import { Confirm, Modal } from './Modal.tsx'
import { Once } from './Once.tsx'

/** Asks before a secret is replaced, and then shows the new one, once. */
export function NewSecret({
  id,
  open,
  note,
  rotate,
  close,
}: {
  /** Whose secret it is. */
  id: string
  open: boolean
  /** What becomes of the one before. */
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
      <Modal title="The new secret" open>
        <Once
          secret={rotate.data.secret}
          note="This is the only time that it is shown."
          lost="Make another one."
          close={leave}
        />
      </Modal>
    )
  }
  return (
    <Confirm
      title="Make a new secret?"
      act="Make a new secret"
      open={open}
      busy={rotate.isPending}
      close={leave}
      confirm={() => rotate.mutate({ id })}
    >
      {note}
    </Confirm>
  )
}
