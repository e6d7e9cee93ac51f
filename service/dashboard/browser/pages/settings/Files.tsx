import { TrashIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { inBytes } from '../../../../ui-kit/format.ts'
import { useAction, useRead } from '../../api/procedures.ts'
import type { StoredFile } from '../../api/upload.ts'
import { Button, IconButton } from '../../parts/Button.tsx'
import { Card } from '../../parts/layout.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Loaded } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'

/** Everything that the account has uploaded, and how much room it takes. */
export function Files() {
  const files = useRead('files.list', { limit: 100 })
  return (
    <Card title="Files">
      <Loaded of={files} waiting={<p className="text-quiet">Loading files</p>}>
        {({ files: found, bytes, accountBytesMax, total }) =>
          total === 0 ? (
            <p className="text-quiet">
              Files that you sell and pictures will be here. Upload one in a checkout’s form.
            </p>
          ) : (
            <>
              <p className="mb-2 text-quiet">
                {inBytes(bytes)} of {inBytes(accountBytesMax)} are used.
              </p>
              <ul className="divide-y divide-line">
                {found.map((file) => (
                  <File key={file.id} file={file} />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

function File({ file }: { file: StoredFile }) {
  const [isSold, setSold] = useState(false)
  const remove = useAction('files.delete', { changes: ['files.'], quiet: true })
  const act = async (soldToo: boolean): Promise<void> => {
    try {
      await remove.mutateAsync({ id: file.id, soldToo })
      toast({ tone: 'good', text: `${file.name} was deleted.` })
    } catch (error) {
      const { code, message, fields } = error as { code?: string; message: string; fields?: { sold?: boolean } }
      if (code === 'file_used' && fields?.sold === true && !soldToo) setSold(true)
      else toast({ tone: 'bad', text: message })
    }
  }
  return (
    <li className="flex items-center gap-3 py-1.5">
      <span className="min-w-0 flex-1 truncate">{file.name}</span>
      <span className="text-quiet tabular-nums">{inBytes(file.bytes)}</span>
      <IconButton label={`Delete ${file.name}`} onClick={() => void act(false)}>
        <TrashIcon />
      </IconButton>
      <Modal title={`Delete ${file.name}?`} open={isSold} close={() => setSold(false)}>
        <p>Buyers have paid for this file. They will not be able to download it any more.</p>
        <div className="mt-4 flex flex-wrap justify-end gap-2">
          <Button onClick={() => setSold(false)}>Keep file</Button>
          <Button
            variant="danger"
            onClick={() => {
              setSold(false)
              void act(true)
            }}
          >
            Delete file
          </Button>
        </div>
      </Modal>
    </li>
  )
}
