import { DownloadIcon, UploadIcon } from '@radix-ui/react-icons'
import { Link, useSearchParams } from 'wouter'
import { useRead, type Output } from '../api/procedures.ts'
import { useEnvironment } from '../settings.ts'
import { idColumn, moneyColumn, stateColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Dash, Id, Money } from '../parts/values.tsx'
import { Card, Metrics, MoneyMetric, Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty, Failure } from '../parts/states.tsx'
import { AddFunds } from './wallet/AddFunds.tsx'
import { MOVEMENT_NAMES } from './wallet/movements.ts'
import { REASONS } from './wallet/movements.ts'
import { Withdraw } from './wallet/Withdraw.tsx'

type Movement = Output<'wallet.transactions'>['transactions'][number]
type Withdrawal = Output<'wallet.withdrawals'>['withdrawals'][number]

export default function Wallet() {
  const [params, setParams] = useSearchParams()
  const at = useEnvironment()
  const wallet = useRead('wallet.balance', undefined)
  const credits = useRead('wallet.credits', undefined)
  const open = params.get('do')
  const close = (): void => setParams({})
  const begin = (what: string) => () => setParams({ do: what })
  const add = (
    <Button variant="main" onClick={begin('add')}>
      <DownloadIcon /> Add funds
    </Button>
  )
  const { data } = wallet
  if (wallet.error !== null && data === undefined)
    return (
      <Page title="Wallet">
        <Failure fault={wallet.error} again={() => void wallet.refetch()} />
      </Page>
    )
  const locks = Object.entries(data?.pendingLocks ?? {})
  return (
    <Page
      title="Wallet"
      actions={
        <>
          <Button onClick={begin('withdraw')}>
            <UploadIcon /> Withdraw
          </Button>
          {add}
        </>
      }
      intro={at === 'sandbox' ? 'Play money in the sandbox.' : 'Your USDC on Base.'}
    >
      <Metrics>
        <MoneyMetric name="Available" amount={data?.availableBalance} />
        <MoneyMetric name="On hold" note="For pending runs and withdrawals" amount={data?.totalLocked} />
        <MoneyMetric name="Credits" note="Used first for the platform's tools" amount={credits.data?.balance} />
        <MoneyMetric name="Deposited" note="All time" amount={data?.totalDeposited} />
        <MoneyMetric name="Spent" note="All time" amount={data?.totalSpent} />
      </Metrics>
      {locks.length > 0 && (
        <Card title="Amounts on hold">
          <ul className="divide-y divide-line">
            {locks.map(([id, amount]) => (
              <li key={id} className="flex items-center justify-between gap-3 py-1.5 first:pt-0 last:pb-0">
                <Reference value={id} />
                <Money amount={amount} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      <List
        path="wallet.transactions"
        rows={({ transactions }) => transactions}
        // The two sides of one transfer share their id.
        keyOf={({ id, balanceAfter }) => `${id} ${String(balanceAfter)}`}
        name="Transactions"
        titled
        columns={MOVEMENTS}
        empty={
          <Empty title="No transactions yet" action={add}>
            Add funds to run assets and tools, or publish an asset and earn on each run.
          </Empty>
        }
      />
      <List
        path="wallet.withdrawals"
        rows={({ withdrawals }) => withdrawals}
        name="Withdrawals"
        titled
        pageKey="withdrawals"
        columns={WITHDRAWALS}
        empty={<Empty title="No withdrawals yet">Choose Withdraw to send USDC to your own address.</Empty>}
      />
      {open === 'add' && <AddFunds close={close} />}
      {open === 'withdraw' && data !== undefined && <Withdraw available={data.availableBalance} close={close} />}
    </Page>
  )
}

const MOVEMENTS: Column<Movement>[] = [
  {
    title: 'Type',
    render: ({ type }) => <span className="font-medium">{MOVEMENT_NAMES[type]}</span>,
    csv: ({ type }) => type,
  },
  {
    title: 'Reference',
    render: ({ reference }) => (reference === null ? <Dash /> : <Reference value={reference} />),
    csv: ({ reference }) => reference,
    wide: true,
  },
  timeColumn('When', ({ createdAt }) => createdAt),
  {
    title: 'Amount',
    end: true,
    render: ({ amount }) => (
      <span className={amount > 0 ? 'font-medium text-good' : 'font-medium'}>
        <Money amount={amount} signed />
      </span>
    ),
    csv: ({ amount }) => amount,
  },
  moneyColumn('Balance after', ({ balanceAfter }) => balanceAfter, { end: true, wide: true }),
]

function Reference({ value }: { value: string }) {
  return value.startsWith('run_') ? (
    <Link to={`/runs/${value}`} className="link font-mono text-[0.8125rem]">
      {value}
    </Link>
  ) : (
    <Id value={value} />
  )
}

const WITHDRAWALS: Column<Withdrawal>[] = [
  idColumn('To', ({ to }) => to),
  stateColumn('State', ({ status }) => status),
  {
    title: 'Transaction',
    render: ({ txHash, reason }) =>
      txHash !== null ? (
        <Id value={txHash} />
      ) : (
        <span className="text-quiet">
          {reason === null ? '–' : `${REASONS[reason]} The amount is back in your wallet.`}
        </span>
      ),
    csv: ({ txHash }) => txHash,
    wide: true,
  },
  timeColumn('When', ({ createdAt }) => createdAt, { wide: true }),
  moneyColumn('Amount', ({ amount }) => amount),
]
