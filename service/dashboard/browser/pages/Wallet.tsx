import { DownloadIcon, UploadIcon } from '@radix-ui/react-icons'
import { Link, useSearchParams } from 'wouter'
import { useAsk, type Output } from '../api/ask.ts'
import { useEnvironment } from '../api/environment.ts'
import { idColumn, moneyColumn, stateColumn, timeColumn } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Dash, Id, Money } from '../parts/figures.tsx'
import { Card, Figures, MoneyFigure, PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty, Failure } from '../parts/states.tsx'
import { AddFunds } from './wallet/AddFunds.tsx'
import { MOVEMENT_NAMES } from './wallet/movements.ts'
import { REASONS } from './wallet/reasons.ts'
import { Withdraw } from './wallet/Withdraw.tsx'

type Movement = Output<'wallet.transactions'>['transactions'][number]
type Withdrawal = Output<'wallet.withdrawals'>['withdrawals'][number]

export default function Wallet() {
  const [params, setParams] = useSearchParams()
  const at = useEnvironment()
  const wallet = useAsk('wallet.balance', undefined)
  const credits = useAsk('wallet.credits', undefined)
  const open = params.get('do')
  const close = (): void => setParams({})
  const begin = (what: string) => () => setParams({ do: what })
  const add = (
    <Button look="main" onClick={begin('add')}>
      <DownloadIcon /> Add funds
    </Button>
  )
  if (wallet.error !== null && wallet.data === undefined) {
    return (
      <>
        <PageHead title="Wallet" />
        <Failure fault={wallet.error} again={() => void wallet.refetch()} />
      </>
    )
  }
  const { data } = wallet
  const locks = Object.entries(data?.pendingLocks ?? {})
  return (
    <>
      <PageHead
        title="Wallet"
        actions={
          <>
            <Button onClick={begin('withdraw')}>
              <UploadIcon /> Withdraw
            </Button>
            {add}
          </>
        }
      >
        {at === 'sandbox' ? 'Play money of the sandbox.' : 'Your USDC on Base.'}
      </PageHead>
      <div className="space-y-6">
        <Figures>
          <MoneyFigure name="Available" amount={data?.availableBalance} />
          <MoneyFigure name="Locked" note="By runs and withdrawals under way" amount={data?.totalLocked} />
          <MoneyFigure name="Credits" note="Spent first, on the platform's tools" amount={credits.data?.balance} />
          <MoneyFigure name="Deposited" note="In all" amount={data?.totalDeposited} />
          <MoneyFigure name="Spent" note="In all" amount={data?.totalSpent} />
        </Figures>
        {locks.length > 0 && (
          <Card title="Locked now">
            <ul className="divide-y divide-line">
              {locks.map(([id, amount]) => (
                <li key={id} className="flex items-center justify-between gap-3 py-1.5 first:pt-0 last:pb-0">
                  {id.startsWith('run_') ? (
                    <Link to={`/runs/${id}`} className="link font-mono text-[0.8125rem]">
                      {id}
                    </Link>
                  ) : (
                    <Id value={id} />
                  )}
                  <Money amount={amount} />
                </li>
              ))}
            </ul>
          </Card>
        )}
        <List
          path="wallet.transactions"
          rows={({ transactions }) => transactions}
          name="Movements"
          title="Movements"
          columns={MOVEMENTS}
          empty={
            <Empty title="Nothing has moved yet" action={add}>
              Add funds to run what others have built, or publish something and be paid.
            </Empty>
          }
        />
        <List
          path="wallet.withdrawals"
          rows={({ withdrawals }) => withdrawals}
          name="Withdrawals"
          title="Withdrawals"
          pageKey="withdrawals"
          columns={WITHDRAWALS}
          empty={<Empty title="No withdrawals yet">What you earn can be paid out to any address of yours.</Empty>}
        />
      </div>
      {open === 'add' && <AddFunds close={close} />}
      {open === 'withdraw' && data !== undefined && <Withdraw available={data.availableBalance} close={close} />}
    </>
  )
}

const MOVEMENTS: Column<Movement>[] = [
  {
    title: 'Type',
    show: ({ type }) => <span className="font-medium">{MOVEMENT_NAMES[type]}</span>,
    csv: ({ type }) => type,
  },
  {
    title: 'For',
    show: ({ reference }) => (reference === null ? <Dash /> : <Reference value={reference} />),
    csv: ({ reference }) => reference,
    wide: true,
  },
  timeColumn('When', ({ createdAt }) => createdAt),
  {
    title: 'Amount',
    end: true,
    show: ({ amount }) => (
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
    show: ({ txHash, reason }) =>
      txHash !== null ? (
        <Id value={txHash} />
      ) : (
        <span className="text-quiet">{reason === null ? '–' : `${REASONS[reason]} The money is back.`}</span>
      ),
    csv: ({ txHash }) => txHash,
    wide: true,
  },
  timeColumn('When', ({ createdAt }) => createdAt, { wide: true }),
  moneyColumn('Amount', ({ amount }) => amount),
]
