import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow'
import {
  LABELS,
  readLife,
  readPlace,
  readProduct,
  readSource,
  type CheckoutRequest,
  type Trigger,
} from '../PayToRunTrigger/checkout.ts'
import { orNull } from '../PayToRunTrigger/form.ts'
import { isObject } from '../shared/transport.ts'

/** Reads the node's parameters into the body of `POST /checkouts`: a conversation that is paid ahead. */
export function readChat(hook: IHookFunctions | IWebhookFunctions): CheckoutRequest {
  const [price, runs] = [hook.getNodeParameter('price') as number, hook.getNodeParameter('messages') as number]
  const { coupons } = hook.getNodeParameter('options', {}) as { coupons?: boolean }
  return {
    ...readProduct(hook),
    // What a program pays for one message without a plan: rounded up, so that it is never cheaper.
    price: Math.ceil((price / runs) * MICRO) / MICRO,
    ...readPlace(hook),
    ...readLife(hook),
    responseMode: 'lastNode',
    refundOnFailure: hook.getNodeParameter('returnFailed', true) === true,
    chat: { greeting: orNull(hook.getNodeParameter('greeting', '') as string) },
    // One id for all of them: who pays again, also for another number of messages, goes on with the same chat.
    plans: [{ id: PLAN, name: `${String(runs)} messages`, price, kind: 'runs', runs }],
    ...(coupons === true && { coupons }),
    ...readSource(hook),
  }
}

/** A message of the customer, with what was said before. */
export function turnOf({ payment, input, metadata }: IDataObject): IDataObject {
  const { chat, ...about } = isObject(metadata) ? metadata : {}
  const { id, turn, turnsLeft, history } = isObject(chat) ? chat : {}
  return {
    // A body that simulates a payment has no chat: it is the first turn of one.
    chatId: id ?? about['paymentId'] ?? null,
    turn: turn ?? 1,
    turnsLeft: turnsLeft === undefined ? 0 : turnsLeft,
    message: isObject(input) ? (input['message'] ?? '') : '',
    history: history ?? [],
    payment,
    input,
    metadata: about,
  }
}

export const PAID_CHAT: Trigger = {
  read: readChat,
  // The first that fits is said, so those of a part come before those of the whole.
  labels: {
    'plans.0.price': 'Price (USDC)',
    'plans.0.runs': 'Messages per Payment',
    'chat.greeting': 'Greeting',
    ...LABELS,
  },
  itemOf: turnOf,
}

const PLAN = 'messages'
const MICRO = 1_000_000
