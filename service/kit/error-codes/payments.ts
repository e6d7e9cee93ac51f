/** Checkouts, purchases and what buyers pay. */
export const PAYMENTS = {
  already_bought: [
    'Another payment bought the same thing first. Nothing was charged for this one.',
    'Open the receipt of the first payment, or start a new purchase.',
  ],
  answer_awaited: [
    'The answer to the delivery ends the work, so the work cannot wait for the buyer.',
    'Answer deliveries at once (`responseMode` `immediately`), or ask without waiting.',
  ],
  answer_given: [
    'The answer to this payment was delivered already.',
    'Use the answer that you received. If it did not arrive whole, ask for a refund. Pay again for another one.',
  ],
  authorization_busy: [
    'Another request is processing the same payment.',
    'Send the same request again in a moment. You are not charged twice.',
  ],
  authorization_used: ['This signed authorization was used for another purchase.', 'Sign a new authorization.'],
  caller_gas_budget_spent: [
    'Too much gas was spent today for payments that this caller submitted.',
    'Try again tomorrow, or after Retry-After.',
  ],
  checkout_ended: ['The checkout has expired or was closed, so it cannot be changed.', 'Create a new checkout.'],
  checkout_not_found: [
    'The checkout does not exist, has expired, or belongs to another account.',
    'Check the link or the id. Buyers can ask the seller for a new link.',
  ],
  checkout_of_request: [
    'The checkout belongs to a request for a further amount, which sets its price and its end.',
    'Delete it to end the request, and make a new request.',
  ],
  checkout_of_workflow: [
    'A node in n8n keeps this checkout up to date.',
    'Change the node, and publish the workflow again.',
  ],
  coupon_archived: ['The coupon is archived and cannot be changed.', 'Create a new coupon.'],
  coupon_code_taken: [
    'The account has an active coupon with the same code.',
    'Archive that one, or choose another code.',
  ],
  coupon_invalid: ['The code is unknown, has ended, or is for another checkout.', 'Check the code, or pay without it.'],
  coupon_not_found: [
    'The account has no such coupon in this environment.',
    'List the coupons, and use an id from the list.',
  ],
  coupon_used_by_customer: ['The wallet has used this code as often as it may.', 'Pay without the code.'],
  coupon_used_up: ['The code was used as often as it may be.', 'Pay without it, or use another code.'],
  customer_not_found: [
    'Nobody has paid you by this e-mail address or from this wallet in this environment.',
    'Search the customers again, and check the environment.',
  ],
  dispute_not_found: [
    'The account has no such dispute in this environment.',
    'List the disputes, and use an id from the list.',
  ],
  dispute_not_open: ['The dispute is closed already.', 'Read its state. Nothing is left to do.'],
  dispute_not_possible: [
    'The payment has not arrived, or was refunded.',
    'Wait until it has arrived. A refunded payment needs no report.',
  ],
  dispute_outside_window: [
    'The time in which this seller takes reports is over, or the seller takes none.',
    'Contact the seller directly.',
  ],
  draft_not_found: [
    'What was filled in on another device has expired, or is of another checkout.',
    'Make a new code on the first device, or fill in the form on this one.',
  ],
  escrow_unavailable: [
    'This server cannot hold payments in the escrow now. Nothing was charged.',
    'Try again later, or sell with another kind of charge.',
  ],
  file_not_found: ['The account has no such file.', 'List the files, or upload it.'],
  file_removed: [
    'The seller removed the file after it was sold.',
    'Ask the seller for it, or report a problem with the payment.',
  ],
  file_too_large: [
    'The file has more bytes than a file may have.',
    'Upload a smaller one. `limit` is the number of bytes.',
  ],
  file_used: [
    'A checkout or page still uses the file, or buyers can still download it.',
    'Remove it there first. To delete a file that was sold, send soldToo=true.',
  ],
  invalid_payment: [
    'The payment, its id or its token cannot be read.',
    '`details` names the fault. Build the payment from the terms of the latest 402 answer.',
  ],
  invalid_proof: [
    'The signature is not of this wallet for this checkout and input.',
    'Sign the message of this checkout again, with the wallet that has the pass.',
  ],
  invoice_not_found: ['There is no such invoice.', 'Check the link or the id.'],
  invoice_not_possible: [
    'The payment has not arrived, or moved no real money.',
    'Wait until it has arrived. Simulated payments and those with test money have no invoices.',
  ],
  invoicing_off: ['The seller issues no invoices here.', 'Ask the seller directly.'],
  mail_not_sent: [
    'The mail server did not accept the mail.',
    'Try again later. Operators: check SMTP_URL with npm run doctor.',
  ],
  max_cost_exceeded: [
    'It may cost more than the maxCost of the request. Nothing was charged.',
    'Raise maxCost, or choose something cheaper. `required` is the price.',
  ],
  no_receipt_address: ['No e-mail address is known for this receipt.', 'Send the link of the receipt instead.'],
  no_run_left: ['The wallet has no pass and no trial run at this checkout.', 'Pay for a run, or buy a plan.'],
  no_workflow: ['The checkout calls no workflow, so it has no signing secret.', 'Set a callbackUrl first.'],
  not_bought: [
    'The address that sells this failed or did not answer. The error says whether you were charged.',
    'Look at the payment that the error names, then try again.',
  ],
  not_charged: ['The payment was never charged, so its workflow is not run again.', 'Ask the customer to order again.'],
  not_test_mode: [
    'The request simulates a payment, and the checkout is not in test mode.',
    'Pay with a wallet, or create a checkout with testMode.',
  ],
  nothing_paid: [
    'A pass, a trial or a coupon paid for this, so there is no money to return.',
    'Report the outcome of the run as failed to return the run.',
  ],
  order_expired: ['The order was not paid in time. Nothing was charged.', 'Call the tool again for a new order.'],
  outcome_known: [
    'The outcome of this payment was reported before and cannot change.',
    'To return the money, refund the payment.',
  ],
  pass_ended: ['The pass has reached its end.', 'Buy a new pass, or pay for a single run.'],
  pass_not_found: ['There is no such pass here.', 'Use the complete link that you got when you paid.'],
  pass_suspended: ['A payment for the pass is being refunded.', 'Pay for a single run.'],
  pass_used_up: ['All runs of the pass are used.', 'Buy more runs, or pay for a single run.'],
  payer_defaulted: [
    'Finished work for this wallet could not be charged before. Nothing was charged now.',
    'Pay with another wallet, or wait until the time in `until`.',
  ],
  payer_gas_budget_spent: [
    'Too much gas was spent today for payments of this payer.',
    'Try again tomorrow, or after Retry-After.',
  ],
  payment_busy: [
    'The same payment is being processed.',
    'Send the same request again in a moment. You are not charged twice.',
  ],
  payment_delivered: [
    'The answer to this payment was sent before, and cannot be sent again.',
    'If it broke off, ask the seller for a refund, and name the payment. Make a new payment for another answer.',
  ],
  payment_expired: [
    'The authorization ended before it could be settled. Nothing was charged, unless `paid` is true: then the answer was not delivered in time.',
    'Sign a new authorization that is valid for longer. If `paid`, ask the seller for a refund.',
  ],
  payment_for_another_request: [
    'The payment was signed for another request.',
    'Sign a payment for the terms of this request.',
  ],
  payment_identifier_used: [
    'The payment identifier was used with another payment or request.',
    'Repeat the first purchase unchanged, or choose a new identifier.',
  ],
  payment_not_found: [
    'There is no such payment here, or it belongs to another account.',
    'Check the id and the environment of your key.',
  ],
  payment_not_open: [
    'The payment has not begun, has failed or was refunded, so its buyer cannot be asked for more.',
    'Ask while the order is under way or paid.',
  ],
  payment_pending: ['The payment is not confirmed yet.', 'Ask again in a few seconds.'],
  payment_processing: ['Another request is processing this payment.', 'Send the same request again in a moment.'],
  payment_refunded: ['The payment was refunded, so it has no answer.', 'Sign a new authorization to buy again.'],
  payment_refused: [
    'The payment was not accepted. `reason` says why. Nothing was charged.',
    'Correct what the reason names, and pay the terms of this 402 answer.',
  ],
  payment_submitted: [
    'The authorization is public already, so it no longer proves who pays.',
    'Also send the paymentToken as X-Payment-Token. You are not charged twice.',
  ],
  payments_unavailable: ['This server cannot settle payments now.', 'Use an API key, or try again after Retry-After.'],
  picture_not_supported: [
    'The picture has a form that is not supported, or is damaged.',
    'Upload a PNG, JPEG or WebP picture.',
  ],
  progress_too_fast: ['Too many lines of progress came in one second.', 'Wait a second. Report fewer steps.'],
  chat_not_found: ['The checkout is no chat.', 'Use its payment page instead.'],
  run_under_way: [
    'The run of an asset that the payment is for has not ended, so its creator is not paid for it yet.',
    'Wait for its end: what does not succeed is refunded within some minutes.',
  ],
  too_many_turns: ['Too many messages of a chat, or of one seller’s chats, came in a minute.', 'Wait a minute.'],
  turn_under_way: [
    'The answer to the last message of the chat is still on its way.',
    'Wait for the answer, then send the next message.',
  ],
  progress_too_long: ['The payment has as many lines of progress as it may have.', 'Report fewer steps.'],
  proof_expired: ['The signature has expired, or is valid for too long.', 'Sign again.'],
  purchases_open: ['The wallet has too many open purchases.', 'Wait until one of them has ended.'],
  quote_expired: [
    'The quote is older than ten minutes, or the checkout is sold on another network by now.',
    'Get the current price, and pay that.',
  ],
  quote_mismatch: ['The quote is for another choice or price.', 'Get a quote for this choice.'],
  receipt_not_found: [
    'There is no such receipt, or the link lacks its token.',
    'Open the complete link from the payment or the mail.',
  ],
  recipient_gas_budget_spent: [
    'Too much gas was spent today for payments to this recipient.',
    'Try again tomorrow, or after Retry-After.',
  ],
  refund_by_operator: [
    'The platform sold this, so no account of a seller can refund it.',
    'Ask the operator of the server.',
  ],
  refund_conflict: ['This request was used before to refund another payment.', 'Use a new Idempotency-Key.'],
  refund_exceeds_payment: [
    'The refund is more than is left of the payment.',
    'Refund at most the amount in `refundable`.',
  ],
  refund_from_balance: ['No wallet of yours can send this refund.', 'Refund it from your balance.'],
  refund_not_found: ['The payment has no such refund.', 'List the refunds of the payment.'],
  refund_not_signable: ['The refund waits for no signature, or has ended.', 'Request another refund.'],
  refund_not_signed: [
    'Several refunds of this payment from your own wallet were not signed in time.',
    'Refund it from your balance.',
  ],
  refund_of_balance: [
    'The payment filled a prepaid balance, which its payer can still spend.',
    'Agree with the payer, and send the rest from your own wallet.',
  ],
  refund_on_other_network: [
    "Your wallet's money is on another network than the payment.",
    'Send the refund from the wallet that received the payment.',
  ],
  refund_request_not_found: ['There is no refund request with this key.', 'Check the complete link.'],
  refund_signature_late: ['The time to sign the refund is over.', 'Wait a few minutes, then request the refund again.'],
  refund_signature_refused: [
    'The signature is not the one that the refund needs.',
    'Sign exactly what `toSign` says, with the wallet in `signer`.',
  ],
  refund_wallet_short: [
    'The wallet that pays the refund has too little USDC.',
    'Add USDC to it, and hand in the signature again.',
  ],
  payment_not_refundable: [
    'The payment has not arrived, or was refunded already.',
    'Refund a payment whose state is paid.',
  ],
  nothing_to_return: [
    'At the payment address is no money that the network has confirmed, or less than is returned.',
    'If you have just sent it, try again in a minute.',
  ],
  payment_address_not_found: [
    'The checkout has no such payment address, or the token is that of another one.',
    'Open the link that you got with the address; send its token in `X-Payment-Token`.',
  ],
  payment_under_way: [
    'The order is being paid with the money at the payment address right now.',
    'Wait until the payment has ended. What is left can be returned then.',
  ],
  return_under_way: ['Money from the payment address is being returned already.', 'Wait until that has ended.'],
  returns_of_the_day: [
    'Very many returns were asked for today, of this payment address or of all of its seller.',
    'The money stays at its address. Try again tomorrow.',
  ],
  too_many_payment_addresses: [
    'Too many orders of this seller wait for a transfer right now.',
    'Pay with a wallet, or try again in half an hour.',
  ],
  too_many_returns: [
    'Money from the payment address was returned as often as it can be.',
    'Contact the seller, who knows the payment.',
  ],
  transfers_unavailable: [
    'The order cannot be paid by a plain transfer: it is a test, it waits in the escrow, its request ends within the hour, or the server has no addresses.',
    'Pay with a wallet instead.',
  ],
  request_closed: [
    'The further amount was paid or refused already, has expired, or a payment of it is under way.',
    'Look at `status`. Nothing else was charged.',
  ],
  request_not_found: ['The payment has no such request for a further amount.', 'Open the link of the order again.'],
  requests_used_up: [
    'The payment has had as many requests for further amounts as it may have.',
    'Create a checkout for anything else.',
  ],
  settlement_not_found: [
    'This facilitator has not seen this authorization.',
    'Check the network and the nonce, or ask the facilitator that settled it.',
  ],
  settlement_pending: [
    'The payment is on its way to the chain.',
    "Send the same request again in a few seconds, with the payment's id and token where the error names them. You are not charged twice.",
  ],
  settlement_unknown: [
    'The facilitator never said whether it settled the payment, and the authorization has expired. It may have been charged.',
    'Look in your wallet. If it was charged, ask the seller for a refund, and name the paymentId; if not, sign a new authorization.',
  ],
  signature_expired: ['The signature has expired, or its end is more than an hour ahead.', 'Sign again.'],
  storefront_not_found: [
    'No seller has this handle, or nothing of the seller is for sale.',
    'Check the handle in the address.',
  ],
  test_mode: [
    'The checkout is in test mode and takes no real payment.',
    'Send simulate: true, or create a checkout without testMode.',
  ],
  too_many_drafts: [
    'Too many orders of this checkout wait to be paid on another device.',
    'Pay on the device where the form is, or try again later.',
  ],
  too_many_mails: [
    'Mails of this kind were sent too often to this address.',
    'Look in the mailbox, or try again in an hour. A receipt can be opened by its link.',
  ],
  too_many_refunds: ['The payment has as many refunds as it may have.', 'Refund the rest from your own wallet.'],
  too_many_uploads: [
    'Too many files wait at this checkout, or its seller has no room for more.',
    'Send a link to the file instead, or try again later.',
  ],
  too_many_requests_open: [
    'The payment has as many open requests for further amounts as it may have.',
    'Wait until one of them is paid, refused or expired.',
  ],
  trials_used_up: ['All trial runs of today are used.', 'Try again tomorrow, or pay for a run.'],
  version_conflict: [
    'Someone edited it after you loaded it.',
    'Load it again, and apply your change to the new version.',
  ],
  workflow_failed: [
    'The workflow reported that it could not do the work. Nothing was charged.',
    "Read the seller's reason, correct the order, and order again.",
  ],
  workflow_timeout: [
    'The workflow did not finish in time. Nothing was charged.',
    'Order again later, or contact the seller.',
  ],
  workflow_unavailable: [
    'The workflow behind the checkout does not respond. Nothing was charged.',
    'Buyers: try again later. Sellers: publish the workflow, and check that its address can be reached.',
  ],
  workflow_unreachable: [
    'The order could not be delivered to the seller. Nothing was charged.',
    'Buyers: try again later. Sellers: look at Deliveries for the reason.',
  ],
} as const
