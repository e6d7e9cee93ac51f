import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Session, SignedIn } from '../api/session.ts'
import { Modal } from '../parts/Modal.tsx'
import { Entrance } from '../sign-in/Entrance.tsx'
import { Shell } from './Shell.tsx'

/** What is around every page after the sign-in. A file of its own, since nobody needs it before. */
export default function Inside({
  session: { state, user },
  children,
}: {
  session: Extract<Session, { state: 'in' | 'ended' }>
  children: ReactNode
}) {
  return (
    <>
      <Shell user={user}>{children}</Shell>
      {state === 'ended' && <SessionEnded user={user} />}
    </>
  )
}

/** Shown over the page, not in its place, so that typed text is not lost. */
function SessionEnded({ user }: { user: SignedIn }) {
  const cache = useQueryClient()
  return (
    <Modal title="Your session has ended" note="Sign in again to continue. What you typed is kept." open>
      <Entrance email={user.email} entered={() => void cache.invalidateQueries()} />
    </Modal>
  )
}
