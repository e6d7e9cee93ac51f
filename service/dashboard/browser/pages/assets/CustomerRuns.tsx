import type { Output } from '../../api/procedures.ts'
import { oneOf, useFilter } from '../../parts/filters.tsx'
import { List } from '../../parts/List.tsx'
import type { Column } from '../../parts/columns.tsx'
import { Empty } from '../../parts/states.tsx'
import { runColumns, StateFilter, STATES } from '../runs/rows.tsx'

type Line = Output<'runs.ofCustomers'>['runs'][number]

/**
 * Customers' runs of one's own asset. The creator must not see who the customers are, and sees the inputs only if the
 * customer agreed.
 */
export function CustomerRuns({ id, sharesInputs }: { id: string; sharesInputs: boolean }) {
  const { chosen, filterOf, filtered } = useFilter(['status'])
  const status = oneOf(chosen.status, STATES)
  return (
    <List
      titled
      path="runs.ofCustomers"
      filter={{ id, ...(status === undefined ? {} : { status }) }}
      filtered={filtered}
      rows={({ runs }) => runs}
      name="Customers’ runs"
      columns={runColumns<Line>(null, sharesInputs ? [INPUTS] : [])}
      controls={<StateFilter {...filterOf('status')} />}
      empty={
        <Empty title="No customer runs yet">
          Each run of another account appears here with its state, its cost and the reason of a failure. You do not see
          who ran it{sharesInputs ? ', and its inputs only where the customer agreed' : ', or with which inputs'}.
        </Empty>
      }
    />
  )
}

/** Most assets share no inputs, and then the list has no column for them. */
const INPUTS: Column<Line> = {
  title: 'Inputs',
  render: ({ inputsShared, inputs }) =>
    inputs === null ? (
      <span className="text-quiet">{inputsShared ? 'Too long for this list' : 'Not shared'}</span>
    ) : (
      <code className="line-clamp-3 font-mono text-[0.8125rem] break-words">{JSON.stringify(inputs)}</code>
    ),
  csv: ({ inputs }) => (inputs === null ? null : JSON.stringify(inputs)),
}
