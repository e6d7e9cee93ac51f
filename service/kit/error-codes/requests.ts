/** How a request is read, who sends it, and how often. */
export const REQUESTS = {
  access_denied: [
    'A person refused the program, or the account cannot have one more key.',
    'Start again and approve it. Revoke keys that are not used.',
  ],
  agent_key_forbidden: ['The key belongs to an agent, and this is not for agents.', 'Use an API key of the account.'],
  authorization_pending: ['The code of the command line was not entered yet.', 'Ask again after `interval` seconds.'],
  bad_request: [
    'The request is not valid HTTP, its address is malformed, or its body ended early.',
    'Check how your program builds the address, the headers and the body, and send it again.',
  ],
  body_too_large: ['The body has more bytes than this address takes.', 'Send less. The error names the limit.'],
  client_gone: [
    'The connection was closed before the answer was sent.',
    'Keep the connection open, with a longer timeout in your program or your proxy.',
  ],
  data_dir_in_use: [
    'Another process uses the same data folder.',
    'Stop the other process, or set DATA_DIR to another folder.',
  ],
  environment_mismatch: [
    'The header Coinslot-Environment names another environment than the key.',
    'Leave the header out, or use a key of that environment.',
  ],
  environment_unavailable: [
    'This server has no production environment.',
    'Use the sandbox, or ask the operator of the server to go live.',
  ],
  environment_unknown: [
    'The header Coinslot-Environment has another value than sandbox or production.',
    'Send one of the two, or leave the header out.',
  ],
  expectation_failed: [
    'The header Expect asks for something that the server does not do.',
    'Leave the header out. Only Expect: 100-continue is supported.',
  ],
  expired_token: ['The code of the command line has expired.', 'Start again to get a new one.'],
  foreign_origin: [
    'A page of another site sent the request with the cookie of a session.',
    'Use the dashboard itself or an API key. An operator can add the origin to CORS_ORIGINS.',
  ],
  form_outdated: [
    'The form was shown to another sign-in or for another request, or the request did not come from the form.',
    'Open the page again and decide there.',
  ],
  handle_taken: ['Another account has this handle.', 'Choose another one.'],
  headers_too_large: [
    'The headers or the address are longer than the server takes.',
    'Send data in the body, and fewer or shorter headers.',
  ],
  idempotency_conflict: [
    'The Idempotency-Key was used before, with another body.',
    'Use a new key for a new request. To repeat a request, send the same body.',
  ],
  identity_provider_unavailable: [
    'The identity provider could not be reached to check the token.',
    'Try again in a moment.',
  ],
  internal: [
    'The service has a fault. It is recorded under the requestId.',
    'Try again. If it happens again, report it with the requestId.',
  ],
  invalid_client: [
    'The OAuth client is unknown, or its description is invalid.',
    'Register the client again, or check its client_id.',
  ],
  invalid_client_metadata: [
    'The description of the OAuth client has a field that this server does not accept.',
    'Read the error for the field, and register the client again.',
  ],
  invalid_grant: [
    'The code or the refresh token is wrong, used, expired or for another client.',
    'Connect again from the start.',
  ],
  invalid_input: [
    'A field is missing, has the wrong type, or has a value that is not allowed.',
    '`details` names each wrong field and what it must be. Correct these fields and send the request again.',
  ],
  invalid_json: [
    'The body is no valid JSON in UTF-8, or names the same field twice.',
    'Check its quotes and commas. Where it is known, the error names the line and the column.',
  ],
  invalid_request: [
    'The OAuth request lacks a parameter, or has one that does not belong to the client.',
    'Check client_id and redirect_uri: the address must be one that the client registered.',
  ],
  invalid_target: [
    'The token was requested for a resource that this server does not have, or that the grant does not cover.',
    'Use the resource from the protected resource metadata of the address.',
  ],
  key_not_found: [
    'The account has no such API key in this environment.',
    'List the keys, and use an id from the list.',
  ],
  length_required: ['The upload has no Content-Length header.', 'Send the file with its length, not in chunks.'],
  method_not_allowed: [
    'The request uses a method that this server does not serve.',
    'Use a method from the reference. The server is not a proxy.',
  ],
  not_found: [
    'Nothing is served at this address with this method.',
    'Compare the method and the path with the reference.',
  ],
  quota_exceeded: [
    'The account has as many of these as it may have. `quota` names what, and `limit` how many.',
    'Delete or close some, or wait until `resetsAt`. The operator of the server can raise the quota.',
  ],
  rate_limited: [
    'Too many requests came from this key, account or address in a minute.',
    'Wait for the seconds in Retry-After. The RateLimit-* headers say how many are left.',
  ],
  request_timeout: [
    'The request took too long to arrive.',
    'Send it again over a faster connection, or in smaller parts.',
  ],
  slow_down: ['The program asked for its key too often.', 'Wait as many seconds as the sentence says.'],
  temporarily_unavailable: [
    'The server with the description of the OAuth client cannot be reached.',
    'Try again later. If it lasts, tell the maker of the client.',
  ],
  too_many_streams: [
    'The account has too many open event streams.',
    'Close pages of the dashboard or connections of your program that you do not need.',
  ],
  unauthenticated: [
    'The key, token or session is missing, wrong, revoked or expired.',
    'Send the header Authorization: Bearer and a key from the dashboard. Check for missing characters.',
  ],
  unavailable: [
    'The service cannot reach its database, or part of it is not ready.',
    'Try again after the seconds in Retry-After. Requests with an Idempotency-Key are safe to repeat.',
  ],
  unsupported_encoding: ['The body is compressed.', 'Send it without Content-Encoding.'],
  unsupported_media_type: [
    'The body has another type than the address takes.',
    'Send JSON with the header Content-Type: application/json.',
  ],
  user_not_found: ['The token is valid, but its user has no account here yet.', 'Create the account with POST /me.'],
  wallet_refused: [
    'The sign-in message of the wallet was not accepted.',
    'Read the error for the reason, get a new message, and sign it with the same wallet.',
  ],
} as const
