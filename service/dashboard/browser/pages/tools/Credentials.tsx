import { useForm } from 'react-hook-form'
import { useAction } from '../../api/procedures.ts'
import { missing } from '../../api/fault.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { toast } from '../../shell/Toasts.tsx'

/** The key that calls of an imported API are sent with: a new one, or none any more. The one that is kept is not shown. */
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
