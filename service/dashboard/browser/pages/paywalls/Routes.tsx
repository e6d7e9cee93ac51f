import { useFieldArray, type UseFormReturn } from 'react-hook-form'
import { AmountField, Choice, TextArea, TextField } from '../../parts/form.tsx'
import { Rows } from '../../parts/Rows.tsx'
import { maySignIn, NEW_ROUTE, type Draft, type RouteDraft } from './draft.ts'

const METHODS = ['*', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map(
  (method) => [method, method === '*' ? 'Any' : method] as const,
)
const MODELS: readonly (readonly [RouteDraft['pricing']['model'], string])[] = [
  ['per-request', 'Per request'],
  ['tiered', 'Tiered'],
  ['per-token', 'Per token'],
  ['per-minute', 'Per minute'],
  ['free', 'Free'],
]

/** The price of each path; the first route that matches applies. */
export function Routes({ form }: { form: UseFormReturn<Draft> }) {
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: 'routes' })
  const models = form.watch('routes').map(({ pricing }) => pricing.model)
  return (
    <Rows
      name="route"
      ids={fields.map(({ id }) => id)}
      columns="sm:grid-cols-[7rem_minmax(0,1fr)_11rem_auto]"
      first={(at) => (
        <>
          <Choice form={form} name={`routes.${at}.method`} label="Method" options={METHODS} />
          <TextField form={form} name={`routes.${at}.path`} label="Path" mono />
          <Choice form={form} name={`routes.${at}.pricing.model`} label="Price" options={MODELS} />
        </>
      )}
      rest={(at) => (
        <>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">
            <Amounts form={form} at={at} model={models[at] ?? 'free'} />
          </div>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">
            <TextField
              form={form}
              name={`routes.${at}.description`}
              label="Description"
              optional
              hint="Buyers see it beside the price."
            />
            <Choice
              form={form}
              name={`routes.${at}.settle`}
              label="Payment"
              options={[
                ['after', 'After your API responds'],
                ['before', 'Before your API is called'],
              ]}
            />
            {maySignIn(models[at] ?? 'free') && (
              <Choice
                form={form}
                name={`routes.${at}.signIn`}
                label="When buyers return"
                hint="They sign in with the wallet that paid for this path."
                options={returnsWith(form.getValues(`routes.${at}.signIn`))}
              />
            )}
            {models[at] !== 'free' && (
              <Choice
                form={form}
                name={`routes.${at}.paymentIdentifier`}
                label="Buyer’s own payment ID"
                hint="It keeps a program from paying twice. Only x402 version 2 has it."
                options={[
                  ['optional', 'Optional'],
                  ['required', 'Required'],
                ]}
              />
            )}
          </div>
        </>
      )}
      move={move}
      remove={remove}
      add={() => append({ ...NEW_ROUTE, path: '' })}
    />
  )
}

const RETURNS: readonly (readonly [string, string])[] = [
  ['', 'They pay again'],
  ['3600', 'Free for 1 hour'],
  ['86400', 'Free for 1 day'],
  ['604800', 'Free for 7 days'],
  ['2592000', 'Free for 30 days'],
]

/** With the route's own time, which the API may have set to any number of seconds. */
function returnsWith(seconds: string): typeof RETURNS {
  return RETURNS.some(([value]) => value === seconds) ? RETURNS : [...RETURNS, [seconds, `Free for ${seconds} seconds`]]
}

function Amounts({
  form,
  at,
  model,
}: {
  form: UseFormReturn<Draft>
  at: number
  model: RouteDraft['pricing']['model']
}) {
  const pricing = `routes.${at}.pricing` as const
  const bounds = (
    <>
      <AmountField form={form} name={`${pricing}.minimum`} label="Minimum" />
      <AmountField
        form={form}
        name={`${pricing}.maximum`}
        label="Maximum"
        hint="Paid in advance. The unused part is kept for the next call."
      />
    </>
  )
  switch (model) {
    case 'free':
      return null
    case 'per-request':
      return <AmountField form={form} name={`${pricing}.amount`} label="Amount" />
    case 'tiered':
      return (
        <>
          <TextArea
            form={form}
            name={`${pricing}.tiers`}
            label="Tiers"
            rows={3}
            mono
            hint="One per line, as calls: price per call. The last line begins with “rest”."
          />
          <Choice
            form={form}
            name={`${pricing}.window`}
            label="Counted per"
            options={[
              ['day', 'Day'],
              ['week', 'Week'],
              ['month', 'Month'],
              ['lifetime', 'All time'],
            ]}
          />
        </>
      )
    case 'per-token':
      return (
        <>
          <AmountField form={form} name={`${pricing}.input`} label="1,000 input tokens" />
          <AmountField form={form} name={`${pricing}.output`} label="1,000 output tokens" />
          {bounds}
        </>
      )
    case 'per-minute':
      return (
        <>
          <AmountField form={form} name={`${pricing}.amount`} label="Per minute" />
          {bounds}
        </>
      )
  }
}
