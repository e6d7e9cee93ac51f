import { useQueryClient } from '@tanstack/react-query'
import type { SignedIn } from '../api/session.ts'
import { Modal } from '../parts/Modal.tsx'
import { Entrance } from '../sign-in/Entrance.tsx'

/** Over the page, not instead of it: what was typed there is still there afterwards. */
export function SessionEnded({ user }: { user: SignedIn }) {
  const kept = useQueryClient()
  return (
    <Modal title="Your session has ended" note="Sign in again to go on. What you typed is kept." open>
      <Entrance
        email={user.email}
        entered={(id) => {
          // Somebody else must not see what the one before was shown.
          if (id === user.id) void kept.invalidateQueries()
          else kept.clear()
        }}
      />
    </Modal>
  )
}
