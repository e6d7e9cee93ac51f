import { DownloadIcon, UploadIcon } from '@radix-ui/react-icons'
import { Link, useSearchParams } from 'wouter'
import { useAsk, type Output } from '../api/ask.ts'
import { useEnvironment } from '../api/environment.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { Id, Money, When } from '../parts/figures.tsx'
import { Card, Figure, Figures, PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty, Failure, Skeleton } from '../parts/states.tsx'
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
  const close = (): void => {
    setParams({})
  }
  const begin = (what: string) => () => {
    setParams({ do: what })
  }
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
          <Figure name="Available">
            {data === undefined ? <Skeleton className="h-7 w-24" /> : <Money amount={data.availableBalance} />}
          </Figure>
          <Figure name="Locked" note="By runs and withdrawals under way">
            {data === undefined ? <Skeleton className="h-7 w-24" /> : <Money amount={data.totalLocked} />}
          </Figure>
          <Figure name="Credits" note="Spent first, on the platform's tools">
            {credits.data === undefined ? <Skeleton className="h-7 w-24" /> : <Money amount={credits.data.balance} />}
          </Figure>
          <Figure name="Deposited" note="In all">
            {data === undefined ? <Skeleton className="h-7 w-24" /> : <Money amount={data.totalDeposited} />}
          </Figure>
          <Figure name="Spent" note="In all">
            {data === undefined ? <Skeleton className="h-7 w-24" /> : <Money amount={data.totalSpent} />}
          </Figure>
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
        <Card flush>
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
        </Card>
        <Card flush>
          <List
            path="wallet.withdrawals"
            rows={({ withdrawals }) => withdrawals}
            name="Withdrawals"
            title="Withdrawals"
            pageKey="withdrawals"
            columns={WITHDRAWALS}
            empty={<Empty title="No withdrawals yet">What you earn can be paid out to any address of yours.</Empty>}
          />
        </Card>
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
    show: ({ reference }) =>
      reference === null ? <span className="text-quiet">–</span> : <Reference value={reference} />,
    csv: ({ reference }) => reference,
    wide: true,
  },
  { title: 'When', show: ({ createdAt }) => <When at={createdAt} />, csv: ({ createdAt }) => createdAt },
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
  {
    title: 'Balance after',
    end: true,
    show: ({ balanceAfter }) => <Money amount={balanceAfter} />,
    csv: ({ balanceAfter }) => balanceAfter,
    wide: true,
  },
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
  { title: 'To', show: ({ to }) => <Id value={to} />, csv: ({ to }) => to },
  { title: 'State', show: ({ status }) => <StateBadge state={status} />, csv: ({ status }) => status },
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
  { title: 'When', show: ({ createdAt }) => <When at={createdAt} />, csv: ({ createdAt }) => createdAt, wide: true },
  { title: 'Amount', end: true, show: ({ amount }) => <Money amount={amount} />, csv: ({ amount }) => amount },
]
