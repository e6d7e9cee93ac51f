import { Confirm, Modal } from './Modal.tsx'
import { Once } from './Once.tsx'

/** Asks before a secret is replaced, and then shows the new one, once. */
export function NewSecret({
  open,
  note,
  secret,
  busy,
  make,
  close,
}: {
  open: boolean
  /** What becomes of the one before. */
  note: string
  secret: string | undefined
  busy: boolean
  make: () => void
  close: () => void
}) {
  if (secret !== undefined) {
    return (
      <Modal title="The new secret" open>
        <Once secret={secret} note="This is the only time that it is shown." close={close} />
      </Modal>
    )
  }
  return (
    <Confirm title="Make a new secret?" act="Make a new secret" open={open} busy={busy} close={close} confirm={make}>
      {note}
    </Confirm>
  )
}
