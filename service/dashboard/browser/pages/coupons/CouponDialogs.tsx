import { useForm, type UseFormReturn } from 'react-hook-form'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { useAction, useRead, type Input, type Output } from '../../api/procedures.ts'
import { AmountField, Choice, Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { boxesOf, toAmount } from '../../parts/texts.ts'
import { toast } from '../../shell/toast.ts'

export type Coupon = Output<'coupons.list'>['coupons'][number]

export function discountText({ percent, amount }: Pick<Coupon, 'percent' | 'amount'>): string {
  return percent === null ? `${inUsdc(amount ?? 0)} USDC off` : `${String(percent)}% off`
}

/** The form's state, under the names of the API's body. */
interface Draft {
  code: string
  kind: 'percent' | 'amount'
  percent: string
  amount: string
  max: string
  perCustomer: string
  /** A day. */
  until: string
  checkouts: string[]
}

export function NewCoupon({ close }: { close: () => void }) {
  const create = useAction('coupons.create', { changes: ['coupons.'], quiet: true, once: true })
  const form = useForm<Draft>({ defaultValues: toDraft(null) })
  const kind = form.watch('kind')
  return (
    <Modal title="Create coupon" open close={close}>
      <Form
        form={form}
        act="Create coupon"
        cancel={close}
        submit={async (draft) => {
          const off =
            draft.kind === 'percent' ? { percent: toAmount(draft.percent) } : { amount: toAmount(draft.amount) }
          await create.mutateAsync({ code: draft.code, ...off, ...toLimits(draft) })
          toast({ tone: 'good', text: 'Coupon created.' })
          close()
        }}
      >
        <TextField
          form={form}
          name="code"
          label="Code"
          mono
          autoFocus
          placeholder="LAUNCH-20"
          hint="3 to 40 letters, digits and -. Buyers may type it in any case."
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Choice
            form={form}
            name="kind"
            label="Discount"
            options={[
              ['percent', 'A percentage'],
              ['amount', 'An amount'],
            ]}
          />
          {kind === 'percent' ? (
            <TextField form={form} name="percent" label="Percent" inputMode="numeric" />
          ) : (
            <AmountField form={form} name="amount" label="Amount" />
          )}
        </div>
        <Limits form={form} limitedTo={[]} />
      </Form>
    </Modal>
  )
}

/** What it takes off stays: buyers may have been shown a price with it. */
export function EditCoupon({ coupon, close }: { coupon: Coupon; close: () => void }) {
  const change = useAction('coupons.change', { changes: ['coupons.'], quiet: true })
  const form = useForm<Draft>({ defaultValues: toDraft(coupon) })
  return (
    <Modal title={`Edit ${coupon.code}`} open close={close}>
      <Form
        form={form}
        act="Save coupon"
        cancel={close}
        submit={async (draft) => {
          await saveEdited(form, draft, {
            toBody: (of) => toLimits(of, coupon),
            save: async (body) => {
              await change.mutateAsync({ id: coupon.id, body })
              toast({ tone: 'good', text: 'Coupon saved.' })
            },
          })
          close()
        }}
      >
        <p className="text-quiet">
          {discountText(coupon)}. The discount cannot be changed: for another one, archive this coupon and create a new
          one.
        </p>
        <Limits form={form} limitedTo={coupon.checkouts ?? []} />
      </Form>
    </Modal>
  )
}

function Limits({ form, limitedTo }: { form: UseFormReturn<Draft>; limitedTo: readonly string[] }) {
  const { data } = useRead('checkouts.list', { limit: 100, offset: 0 })
  const boxes = data === undefined ? [] : boxesOf(data.checkouts, limitedTo)
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField form={form} name="max" label="Total uses" inputMode="numeric" optional />
        <TextField form={form} name="perCustomer" label="Uses per wallet" inputMode="numeric" optional />
        <TextField form={form} name="until" label="Last day" type="date" optional />
      </div>
      {boxes.length > 0 && (
        <fieldset>
          <legend className="mb-1 font-medium">Only at these checkouts</legend>
          <div className="max-h-40 space-y-1 overflow-y-auto">
            {boxes.map(({ id, name }) => (
              <label key={id} className="flex items-center gap-2.5">
                <input
                  type="checkbox"
                  value={id}
                  {...form.register('checkouts')}
                  className="size-4 shrink-0 accent-accent"
                />
                <span className="min-w-0 truncate">{name}</span>
              </label>
            ))}
          </div>
          <p className="mt-1 text-[0.8125rem] text-quiet">
            Choose none to allow it at every checkout that takes coupons.
          </p>
        </fieldset>
      )}
    </>
  )
}

function toDraft(coupon: Coupon | null): Draft {
  return {
    code: coupon?.code ?? '',
    kind: 'percent',
    percent: '10',
    amount: '',
    max: String(coupon?.max ?? ''),
    perCustomer: String(coupon?.perCustomer ?? ''),
    until: coupon?.until == null ? '' : dayOf(new Date(coupon.until)),
    checkouts: [...(coupon?.checkouts ?? [])],
  }
}

/** A day that was not changed keeps its time. */
function toLimits(draft: Draft, before: Coupon | null = null): Input<'coupons.change'>['body'] {
  const { max, perCustomer, until, checkouts } = draft
  const isSameDay = until !== '' && until === toDraft(before).until
  return {
    max: numberOrNull(max),
    perCustomer: numberOrNull(perCustomer),
    until: isSameDay ? before?.until : until === '' ? null : new Date(`${until}T23:59:59`).toISOString(),
    checkouts: checkouts.length === 0 ? null : checkouts,
  }
}

function numberOrNull(text: string): number | null {
  return text.trim() === '' ? null : toAmount(text)
}

/** The day here, as an input of a date has it. */
function dayOf(at: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0')
  return [String(at.getFullYear()), two(at.getMonth() + 1), two(at.getDate())].join('-')
}
