/** Tools, runs, connections, and the servers of others. */
export const WORK = {
  account_required: [
    'The call needs a balance, and was made without an API key.',
    'Call with an API key, or pay for each call.',
  ],
  agent_answer_invalid: [
    "The creator's agent answered something that cannot be read. Nothing was charged.",
    'Creators: answer as the reference of agents says. Callers: try again later.',
  ],
  agent_failed: [
    "The creator's agent reported that it failed. Nothing was charged.",
    'Read its reason, correct the inputs, and run again.',
  ],
  agent_unavailable: ["The creator's agent is not available now. Nothing was charged.", 'Try again later.'],
  agent_unreachable: [
    "The creator's agent could not be reached. Nothing was charged.",
    "Try again later. Creators: check the agent's address.",
  ],
  already_rated: ['The account has rated this asset before.', 'Nothing is left to do. A rating cannot change.'],
  answer_forgotten: [
    'The call was made and paid for, but its answer is no longer stored.',
    'Make a new call. Store answers when they arrive.',
  ],
  authorization_refused: [
    'The provider did not connect the account.',
    'Read the error for the reason, and connect again.',
  ],
  authorization_unknown: [
    "The sign-in at the provider is unknown, over, or another account's. Nothing was stored.",
    'Connect again from the dashboard.',
  ],
  call_aborted: [
    'The caller disconnected before the answer. Nothing was charged.',
    'Keep the connection open, with a longer timeout.',
  ],
  call_too_late: ['The answer came after the deadline. Nothing was charged.', 'Call again.'],
  collection_not_found: ['There is no such collection of tools.', 'List the collections to find one.'],
  connection_name_taken: ['The account has a connection with this name to the provider.', 'Choose another name.'],
  connection_not_active: ['The connection is not active.', 'Connect it again, then test it.'],
  connection_not_found: ['The account has no such connection.', 'List the connections to find one.'],
  connection_not_needed: ['The tools of this provider need no connection.', 'Call them directly.'],
  connection_required: [
    'The tool acts in your own account at the provider, which is not connected. Nothing was charged.',
    'Open `connectUrl`, connect the account, and call again.',
  ],
  creator_unfunded: [
    'The creator pays for this free prompt and has too little money.',
    'Try again later, or use another one.',
  ],
  document_failed: ['The document could not be made.', 'Try again.'],
  document_refused: [
    'The OpenAPI document cannot be imported.',
    'Read the error for the place, and correct the document.',
  ],
  documents_waiting: ['Too many documents wait to be made.', 'Try again in a few seconds.'],
  draft_unauthenticated: ['The asset is a draft, which only its owner can read.', 'Authenticate as its owner.'],
  execution_failed: [
    'The run failed because of a fault of the service. Nothing was charged.',
    'Run it again. If it fails again, report the runId.',
  ],
  imports_busy: ['Other imports are in progress.', 'Try again in a minute.'],
  mcp_server_refused: [
    'The MCP server cannot be imported.',
    'Read the error for the reason, and check the address and the key of the server.',
  ],
  model_busy: ['The model has too much to do. Nothing was charged.', 'Try again in a moment.'],
  model_interrupted: ['The model broke off its answer. Nothing was charged.', 'Run it again.'],
  model_refused: ['The model refused the prompt. Nothing was charged.', 'Change the inputs.'],
  model_silent: ['The model gave an empty answer. Nothing was charged.', 'Run it again, or change the inputs.'],
  model_timeout: ['The model did not answer in time. Nothing was charged.', 'Try again.'],
  model_too_long: ['The model answered with too much. Nothing was charged.', 'Ask for a shorter answer.'],
  model_unavailable: ['The model is not available. Nothing was charged.', 'Try again later, or use another model.'],
  needs_key: [
    'This run or tool is free, or a creator’s, and its caller must be known.',
    'Send an API key; a creator’s tool is also sold at POST /v1/rda/{slug}/run.',
  ],
  not_a_prompt: ['The asset is no prompt, so it has no template.', 'Use the id of a prompt.'],
  oauth_client_missing: [
    'The server has no OAuth client for this provider.',
    'Connect with a key instead, or ask the operator of the server.',
  ],
  own_rda: ['Creators cannot rate their own assets.', 'Nothing is left to do.'],
  price_changed: [
    'The price of the asset is not the one that the page showed. Nothing was charged.',
    'Reload the page, check the new price, and run it again.',
  ],
  provider_busy: ['The provider has too many calls in progress. Nothing was charged.', 'Try again in a moment.'],
  provider_not_found: ['There is no such provider.', 'List the providers to find one.'],
  rda_archived: ['The asset is archived.', 'Publish it to bring it back.'],
  rda_not_found: [
    "There is no such marketplace asset, or it is another account's draft.",
    'Check the id or the slug. `didYouMean` may name the right one.',
  ],
  rda_rate_limited: [
    'The asset has reached its limit of calls per minute, or the caller has used up half of it.',
    'Try again after the seconds in Retry-After.',
  ],
  unpaid_model_costs: [
    'Models were called for failed runs, which are not charged, and what they cost in a day is used up, for the caller or the creator.',
    'Try again after the seconds in Retry-After.',
  ],
  run_canceled: ['The run was canceled. Nothing was charged.', 'Start a new run.'],
  run_ended: ['The run has ended already.', 'Read its result by its id.'],
  run_expired: ['The run took too long. Nothing was charged.', 'Run it again.'],
  run_failed_too_often: ['The run failed too often for this payment.', 'Contact the seller, and name the payment.'],
  run_interrupted: ['The service restarted during the run. Nothing was charged.', 'Run it again.'],
  call_not_found: ['The account has no such call.', 'Check callId, and the environment of your key.'],
  run_not_found: [
    'The account has no such run. A refused request started none.',
    'Check the id, and the environment of your key.',
  ],
  review_answered: ['The creator has answered this review before.', 'Nothing is left to do. An answer cannot change.'],
  review_limit: [
    'The account has written twenty reviews within a day.',
    'Rate with the score alone, or write the review tomorrow.',
  ],
  review_needs_payment: [
    'Only accounts that paid for a run of this asset can review it. A run that cost nothing does not count.',
    'Pay for a run first, or send the score without a text.',
  ],
  review_not_found: [
    'The asset has no review with this ID, or the operator has hidden it.',
    'List the reviews of the asset again.',
  ],
  run_required: ['The account has no successful run of this asset.', 'Run it before you rate it.'],
  run_timeout: ['The run did not finish in time. Nothing was charged.', 'Run it again, with less work in one run.'],
  run_unsettled: ['The run is done, and its settlement is pending.', 'Get the run by its id in a few seconds.'],
  source_not_for_sale: ['The creator does not sell the template of this asset.', 'Run the asset instead.'],
  stopping: ['The service restarts. Nothing was charged.', 'Call again in a moment.'],
  too_many_calls_at_once: ['The key has too many calls in progress.', 'Wait for one to end, then call again.'],
  tool_broken: [
    'The input schema of the tool is invalid, so it cannot be called.',
    'Use another tool. Its importer must correct the document.',
  ],
  tool_not_found: ['There is no such tool.', 'Search the catalogue for its slug.'],
  tool_refused: [
    "The creator's tool answered with an error. Nothing was charged.",
    'Read its reason, and correct the inputs.',
  ],
  tool_removed: [
    'The tool was removed from the catalogue.',
    'Use the tool that the error names, or search for another one.',
  ],
  transform_failed: ['A transform expression gave an error.', 'Check the expression with the data that it gets.'],
  transform_invalid: [
    'The request transform of the tool did not return an object.',
    'Creators: return an object, whose fields become the query.',
  ],
  transform_timeout: ['A transform expression took too long.', 'Make the expression simpler, or its data smaller.'],
  transform_too_large: ['The data of a transform expression, or its result, is too large.', 'Select fewer fields.'],
  transforms_waiting: ['Too many transforms of the account wait for their turn.', 'Try again in a few seconds.'],
  upstream_error: [
    'The server behind this address failed. Nothing was charged.',
    '`upstream` has its answer where it gave one. Correct the inputs, or try again later.',
  ],
  upstream_timeout: ['The server behind this address did not answer in time. Nothing was charged.', 'Try again.'],
} as const

/** A server that we were to call. The same faults of a creator's server have its kind in front. */
export const OUTBOUND = {
  address_refused: [
    'The address is private, reserved, or not allowed on this server.',
    'Use a public address. Operators can allow a host with ALLOW_HOSTS.',
  ],
  address_unresolvable: ['The name of the host leads nowhere.', 'Check the spelling of the host and its DNS records.'],
  certificate_refused: [
    'The certificate of the host could not be verified.',
    'Install a valid certificate with its whole chain.',
  ],
  connect_timeout: [
    'The host did not accept the connection in time.',
    'Check that it runs and that its firewall lets us in.',
  ],
  connection_failed: [
    'The connection to the host failed.',
    'Check that it runs and can be reached from the internet, then try again.',
  ],
  header_refused: [
    'A header of the call is not allowed, or has forbidden characters.',
    'Remove or correct the header that the error names.',
  ],
  method_refused: ['The method of the call is not allowed.', 'Use GET, POST, PUT, PATCH or DELETE.'],
  redirect_refused: ['The host answered with a redirect, which is not followed.', 'Use the final address.'],
  response_invalid: ['The host did not answer with valid HTTP.', 'Check what listens at the address.'],
  response_timeout: ['The host did not answer in time.', 'Answer sooner: accept the work first and do it afterwards.'],
  response_too_large: ['The answer of the host is too large.', 'Answer with less.'],
  response_undecodable: [
    'The compressed answer of the host cannot be read.',
    'Send it without compression, or correct the encoding.',
  ],
} as const
