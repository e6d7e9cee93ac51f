import { useState } from 'react'
import { sentenceOf, useAction, useRead, type Output } from '../../api/procedures.ts'
import { toFault, type Fault } from '../../api/fault.ts'
import { Button, LinkButton, TextLink } from '../../parts/Button.tsx'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { Money } from '../../parts/values.tsx'
import { InputForm, toInputs, type FormValues } from '../../parts/InputForm.tsx'
import { Card } from '../../parts/layout.tsx'
import { Notice } from '../../parts/states.tsx'
import { hasEnded, Outcome } from '../Run.tsx'

export type Asset = Output<'assets.get'>

/** The asset's form, and the run that was started with it. */
export function RunPanel({
  asset,
  initialValues = {},
  title = 'Run',
  onStart,
}: {
  asset: Asset
  initialValues?: FormValues
  title?: string
  onStart?: () => void
}) {
  const [values, setValues] = useState<FormValues>(initialValues)
  const [modelId, setModel] = useState('')
  const [fault, setFault] = useState<Fault | null>(null)
  const [runId, setRunId] = useState<string | null>(null)
  const begin = useAction('runs.start', { changes: ['runs.', 'wallet.', 'assets.get'], quiet: true, once: true })
  const fields = asset.schema.inputs
  const models = asset.promptConfig?.allowedModels ?? []
  const { pricing } = asset
  // A prompt costs what its model does where that is more than its price.
  const fixed = pricing.model === 'per-run' && pricing.maxCost === pricing.amount

  const start = async (): Promise<void> => {
    setFault(null)
    try {
      const { id } = await begin.mutateAsync({
        rdaSlug: asset.slug,
        inputs: toInputs(fields, values),
        modelId: modelId === '' ? null : modelId,
        // As the page stated: if its creator has changed the price since then, the run is refused.
        pricing: { model: pricing.model, amount: pricing.amount },
        // As the form stated: if the setting has changed since then, nothing is shared.
        sharesInputs: asset.sharesInputs,
      })
      setRunId(id)
      onStart?.()
    } catch (error) {
      setFault(toFault(error))
    }
  }
  return (
    <div className="space-y-6">
      <Card title={title}>
        <InputForm fields={fields} values={values} change={setValues} faults={fault?.details ?? {}} submit={start}>
          {models.length > 1 && (
            <label className="block">
              <span className="mb-1 block font-medium">Model</span>
              <select className="field" value={modelId} onChange={(event) => setModel(event.target.value)}>
                <option value="">Default</option>
                {models.map(({ id, name, tier }) => (
                  <option key={id} value={id}>
                    {name} ({tier})
                  </option>
                ))}
              </select>
            </label>
          )}
          {asset.sharesInputs && <SharedInputs />}
          {fault !== null && !fault.isSessionOver && <Refusal fault={fault} />}
          <Button type="submit" variant="main" busy={begin.isPending} className="w-full">
            {pricing.model === 'free' ? 'Run for free' : fixed ? `Run for ${inUsdc(pricing.amount)} USDC` : 'Run'}
          </Button>
          {!fixed && pricing.model !== 'free' && (
            <p className="text-center text-[0.8125rem] text-quiet">
              Estimated cost: {pricing.estimatedCost}. The maximum is held while it runs; what the run does not use is
              released.
            </p>
          )}
        </InputForm>
      </Card>
      {runId !== null && <Result id={runId} />}
    </div>
  )
}

/** Tells the buyer before the payment what the creator will see. */
export function SharedInputs() {
  return <Notice>The creator sees these inputs. They do not see who you are, or the output.</Notice>
}

function Refusal({ fault }: { fault: Fault }) {
  if (fault.code === 'insufficient_balance') {
    return (
      <Notice tone="warn">
        <p className="mb-2">{fault.message}</p>
        <LinkButton to="/wallet?do=add" small>
          Add funds
        </LinkButton>
      </Notice>
    )
  }
  if (Object.keys(fault.details).length > 0)
    return <Notice tone="bad">The run was not started. Check the fields above.</Notice>
  return <Notice tone="bad">{sentenceOf(fault)}</Notice>
}

function Result({ id }: { id: string }) {
  const run = useRead('runs.get', { id })
  if (run.data === undefined) return null
  return (
    <div className="space-y-2">
      <Outcome run={run.data} />
      <p className="flex justify-between text-[0.8125rem] text-quiet">
        <TextLink to={`/runs/${id}`}>View run</TextLink>
        {hasEnded(run.data) && (
          <span>
            Cost <Money amount={run.data.cost} />
          </span>
        )}
      </p>
    </div>
  )
}
