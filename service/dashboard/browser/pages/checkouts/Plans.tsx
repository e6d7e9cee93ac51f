import { useFieldArray, type UseFormReturn } from 'react-hook-form'
import { AmountField, Choice, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Rows } from '../../parts/Rows.tsx'
import type { Draft, PlanDraft } from './draft.ts'

/** A plan in the form's state. */
/** What customers can try for nothing or pay for ahead. */
export function Plans({ form }: { form: UseFormReturn<Draft> }) {
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: 'plans', keyName: 'key' })
  const kinds = form.watch('plans').map(({ kind }) => kind)
  const after = form.watch('after.kind')
  const givesTrials = after !== 'chat' && form.watch('trialRuns') !== '0'
  return (
    <Card title={after === 'chat' ? 'Plans' : 'Plans and trials'}>
      <div className="space-y-4">
        {after === 'chat' && <p className="text-quiet">A chat needs a plan: each message is one run of it.</p>}
        <div className="grid gap-4 sm:grid-cols-2" hidden={after === 'chat'}>
          <TextField
            form={form}
            name="trialRuns"
            label="Free trial runs"
            inputMode="numeric"
            hint={
              givesTrials && after === 'file'
                ? 'Each trial run gives the whole file away, and a wallet costs nothing to make.'
                : 'For each wallet. A wallet costs nothing to make.'
            }
          />
          {givesTrials && (
            <TextField
              form={form}
              name="trialsPerDay"
              label="Trial runs a day"
              inputMode="numeric"
              hint="For all wallets together. It limits what trials cost you."
            />
          )}
        </div>
        <Rows
          name="plan"
          least={0}
          ids={fields.map(({ key }) => key)}
          columns="sm:grid-cols-[minmax(0,1fr)_8rem_9rem_auto]"
          first={(at) => (
            <>
              <TextField form={form} name={`plans.${at}.name`} label="Name" placeholder="Ten runs" />
              <AmountField form={form} name={`plans.${at}.price`} label="Price" />
              <Choice form={form} name={`plans.${at}.kind`} label="Sold as" options={KINDS} />
            </>
          )}
          rest={(at) => (
            <div className="mt-3 grid gap-3 sm:grid-cols-2">
              {kinds[at] === 'period' && (
                <TextField form={form} name={`plans.${at}.days`} label="Days" inputMode="numeric" />
              )}
              <TextField
                form={form}
                name={`plans.${at}.runs`}
                label={kinds[at] === 'period' ? 'Maximum runs' : 'Runs'}
                inputMode="numeric"
                optional={kinds[at] === 'period'}
                hint="The purchase itself is the first run."
              />
            </div>
          )}
          move={move}
          remove={remove}
          add={() => append(NEW_PLAN)}
        />
      </div>
    </Card>
  )
}

const KINDS = [
  ['runs', 'Number of runs'],
  ['period', 'Period'],
] as const

const NEW_PLAN: PlanDraft = { id: '', name: '', price: '', kind: 'runs', runs: '10', days: '30' }
