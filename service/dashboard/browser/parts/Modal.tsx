import * as Dialog from '@radix-ui/react-dialog'
import { Cross2Icon } from '@radix-ui/react-icons'
import { type ReactNode, useState } from 'react'
import { Button, IconButton } from './Button.tsx'

export function Modal({
  title,
  note,
  open,
  close,
  wide = false,
  children,
}: {
  title: string
  note?: ReactNode
  open: boolean
  /** Absent when the dialog cannot be closed. */
  close?: (() => void) | undefined
  wide?: boolean
  children: ReactNode
}) {
  const stay = (event: Event): void => {
    if (close === undefined) event.preventDefault()
  }
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && close?.()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-fade bg-cover" />
        <Dialog.Content
          onEscapeKeyDown={stay}
          onInteractOutside={stay}
          {...(note === undefined ? { 'aria-describedby': undefined } : {})}
          className={`fixed inset-x-3 top-[8vh] z-40 mx-auto flex max-h-[84vh] animate-rise flex-col rounded-xl bg-paper shadow-lift ${wide ? 'max-w-2xl' : 'max-w-md'}`}
        >
          <div className="flex items-start justify-between gap-3 px-5 pt-4">
            <Dialog.Title className="min-w-0 text-base font-semibold break-words">{title}</Dialog.Title>
            {close !== undefined && (
              <Dialog.Close asChild>
                <IconButton label="Close" className="-mt-1 -mr-2">
                  <Cross2Icon />
                </IconButton>
              </Dialog.Close>
            )}
          </div>
          <div className="overflow-y-auto px-5 pt-3 pb-5">
            {note !== undefined && <Dialog.Description className="-mt-2 mb-4 text-quiet">{note}</Dialog.Description>}
            {children}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({
  title,
  children,
  act,
  busy,
  open,
  close,
  confirm,
}: {
  title: string
  children: ReactNode
  act: string
  /** Set for a dialog that stays open until the action is done. */
  busy?: boolean
  open: boolean
  close: () => void
  confirm: () => void
}) {
  return (
    <Modal title={title} open={open} close={close} note={children}>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button
          variant="danger"
          busy={busy === true}
          onClick={() => {
            confirm()
            if (busy === undefined) close()
          }}
        >
          {act}
        </Button>
      </div>
    </Modal>
  )
}

/** Which of a page's dialogs is open. */
export function useDialog<Name extends string>() {
  const [shown, setShown] = useState<Name | null>(null)
  return { shown, open: (name: Name) => () => setShown(name), close: () => setShown(null) }
}
