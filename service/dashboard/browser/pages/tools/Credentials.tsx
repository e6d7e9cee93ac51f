import { useForm } from 'react-hook-form'
import { useAction } from '../../api/procedures.ts'
import { missing } from '../../api/fault.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { toast } from '../../shell/toast.ts'

/** Sets or removes the key for calls of an imported API. The stored key is not shown. */
export function Credentials({ provider, close }: { provider: string; close: () => void }) {
  const set = useAction('tools.setCredentials', { quiet: true })
  const form = useForm({ defaultValues: { credentials: '' } })
  const done = (text: string): void => {
    toast({ tone: 'good', text })
    close()
  }
  return (
    <Modal
      title={`API key of ${provider}`}
      note="Sent with each call from now on. Stored encrypted and not shown again."
      open
      close={close}
    >
      <Form
        form={form}
        act="Save key"
        cancel={close}
        submit={async ({ credentials }) => {
          const key = credentials.trim()
          if (key === '') throw missing('credentials')
          await set.mutateAsync({ provider, credentials: key })
          done('Key saved.')
        }}
        aside={
          <Button
            variant="danger"
            busy={set.isPending}
            onClick={() => {
              form.clearErrors()
              set.mutate(
                { provider, credentials: null },
                {
                  onSuccess: () => done('Key removed. Calls are sent without one.'),
                  onError: (fault) => form.setError('credentials', { message: fault.message }),
                },
              )
            }}
          >
            Remove key
          </Button>
        }
      >
        <TextField form={form} name="credentials" label="Key" mono autoComplete="off" spellCheck={false} />
      </Form>
    </Modal>
  )
}
