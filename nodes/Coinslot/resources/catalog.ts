import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow'
import type { Operation } from '../request.ts'
import { agentBudget, changeAgent, createAgent, listAgents } from './agent.ts'
import { askForMore } from './ask.ts'
import { answerPayer, failPayment, showProgress } from './answer.ts'
import {
  archiveCheckout,
  createCheckout,
  duplicateCheckout,
  getCheckout,
  listCheckouts,
  simulatePayment,
  updateCheckout,
} from './checkout.ts'
import { archiveCoupon, createCoupon, listCoupons } from './coupon.ts'
import { fetchPaidUrl } from './paid-url.ts'
import { getPayment, listPayments, refundPayment, reportOutcome } from './payment.ts'
import { getRda, runRda, searchRdas } from './rda.ts'
import { cancelRun, getRun, waitForRun } from './run.ts'
import { callTool, getTool, searchTools } from './tool.ts'
import { getBalance, getTransactions } from './wallet.ts'

interface Resource {
  name: string
  value: string
  description: string
  /** The first operation is the panel's default. */
  operations: readonly [Operation, ...Operation[]]
}

const RESOURCES: readonly Resource[] = [
  {
    name: 'Agent',
    value: 'agent',
    description: 'What an agent of the account may spend',
    operations: [agentBudget, listAgents, createAgent, changeAgent],
  },
  {
    name: 'Checkout',
    value: 'checkout',
    description: 'A payment page of the account, with its own link',
    operations: [
      createCheckout,
      archiveCheckout,
      duplicateCheckout,
      getCheckout,
      listCheckouts,
      simulatePayment,
      updateCheckout,
    ],
  },
  {
    name: 'Coupon',
    value: 'coupon',
    description: 'A code that makes purchases cheaper',
    operations: [createCoupon, archiveCoupon, listCoupons],
  },
  {
    name: 'Marketplace Asset',
    value: 'rda',
    description: 'A prompt, an agent or a tool that others sell in the Coinslot marketplace, to run and pay for',
    operations: [runRda, getRda, searchRdas],
  },
  {
    name: 'Paid URL',
    value: 'paidUrl',
    description: 'Any address that requires a payment by x402 or MPP',
    operations: [fetchPaidUrl],
  },
  {
    name: 'Payment',
    value: 'payment',
    description: 'A payment that the account received',
    operations: [
      answerPayer,
      askForMore,
      showProgress,
      failPayment,
      refundPayment,
      getPayment,
      listPayments,
      reportOutcome,
    ],
  },
  {
    name: 'Run',
    value: 'run',
    description: 'A run of a marketplace asset that was started before',
    operations: [getRun, waitForRun, cancelRun],
  },
  {
    name: 'Tool',
    value: 'tool',
    description: 'A ready-made tool of Coinslot: search, mail, data and more, paid per call',
    operations: [callTool, getTool, searchTools],
  },
  {
    name: 'Wallet',
    value: 'wallet',
    description: 'The balance and transactions of the account',
    operations: [getBalance, getTransactions],
  },
]

/** The panel's questions: the resource, the operation, and the operation's fields. */
export const properties: INodeProperties[] = [
  {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    default: 'rda',
    options: RESOURCES.map(({ name, value, description }) => ({ name, value, description })),
  },
  ...RESOURCES.map(({ value, operations: [first, ...others] }) => ({
    displayName: 'Operation',
    name: 'operation',
    type: 'options' as const,
    noDataExpression: true,
    default: first.option.value,
    options: [first, ...others].map(({ option }) => option).sort((one, other) => one.name.localeCompare(other.name)),
    displayOptions: { show: { resource: [value] } },
  })),
  ...RESOURCES.flatMap(({ value, operations }) =>
    operations.flatMap(({ option, fields }) =>
      updateDisplayOptions({ show: { resource: [value], operation: [option.value] } }, fields),
    ),
  ),
]

export function operationOf(resource: string, operation: string): Operation {
  const { operations = [] } = RESOURCES.find(({ value }) => value === resource) ?? {}
  const found = operations.find(({ option }) => option.value === operation)
  if (found === undefined) throw new Error(`There is no operation ${operation} of ${resource}.`)
  return found
}
