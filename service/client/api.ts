// Written from the OpenAPI document by describe-types.mjs. Do not edit.

export interface Schemas {
  "CouponTerms": { "code": string; "percent"?: number | null | undefined; "amount"?: number | null | undefined; "max"?: number | null | undefined; "perCustomer"?: number | null | undefined; "until"?: string | null | undefined; "checkouts"?: (string)[] | null | undefined }
  "CouponChange": { "max"?: number | null | undefined; "perCustomer"?: number | null | undefined; "until"?: string | null | undefined; "checkouts"?: (string)[] | null | undefined }
  "CheckoutTerms": { "callbackUrl"?: string | null | undefined; "after"?: Schemas["CheckoutAfter"] | null | undefined; "picture"?: string | null | undefined; "product": { "name": string; "description"?: string | null | undefined }; "price"?: number | undefined; "pricing"?: Schemas["CheckoutPricing"] | null | undefined; "coupons"?: boolean | null | undefined; "network": "base" | "base-sepolia"; "recipient"?: string | null | undefined; "fields"?: ({ "name": string; "label"?: string | null | undefined; "type": "text" | "textarea" | "number" | "boolean" | "select" | "url" | "email" | "date" | "json" | "file"; "required"?: boolean | null | undefined; "placeholder"?: string | null | undefined; "options"?: (string)[] | null | undefined; "description"?: string | null | undefined; "default"?: unknown | undefined; "min"?: number | null | undefined; "max"?: number | null | undefined; "pattern"?: string | null | undefined; "patternMessage"?: string | null | undefined; "showIf"?: { "field": string; "equals": boolean | string } | null | undefined })[] | null | undefined; "redirectUrl"?: string | null | undefined; "testMode"?: boolean | null | undefined; "lifetime"?: "temporary" | "persistent" | null | undefined; "responseMode"?: "immediately" | "lastNode" | null | undefined; "preflight"?: boolean | null | undefined; "onUnconfirmed"?: "hold" | "redeliver" | null | undefined; "onError"?: "retry" | "fail" | null | undefined; "capture"?: "onPayment" | "onSuccess" | "escrow" | null | undefined; "runSeconds"?: number | null | undefined; "refundOnFailure"?: boolean | null | undefined; "embedOrigins"?: (string)[] | null | undefined; "trialRuns"?: number | null | undefined; "trialsPerDay"?: number | null | undefined; "plans"?: ({ "id": string; "name": string; "price": number; "kind": "runs"; "runs": number } | { "id": string; "name": string; "price": number; "kind": "period"; "days": number; "runs"?: number | null | undefined })[] | null | undefined; "chat"?: { "greeting"?: string | null | undefined } | null | undefined; "notify"?: { "sale": boolean; "failure": boolean } | null | undefined; "source"?: { "instanceId": string; "workflowId": string; "nodeId": string } | null | undefined }
  "CheckoutAfter": { "kind": "webhook" } | { "kind": "text"; "text": string } | { "kind": "link"; "url": string } | { "kind": "file"; "fileId": string }
  "CheckoutPricing": { "kind": "fixed" } | { "kind": "quantity"; "min"?: number | null | undefined; "max": number } | { "kind": "choose"; "min": number; "max"?: number | null | undefined; "suggested"?: number | null | undefined } | { "kind": "byField"; "field": string; "prices": Record<string, number> }
  "CheckoutChange": { "callbackUrl"?: string | null | undefined; "after"?: Schemas["CheckoutAfter"] | null | undefined; "picture"?: string | null | undefined; "product"?: { "name": string; "description"?: string | null | undefined } | undefined; "price"?: number | undefined; "pricing"?: Schemas["CheckoutPricing"] | null | undefined; "coupons"?: boolean | null | undefined; "network"?: "base" | "base-sepolia" | undefined; "recipient"?: string | null | undefined; "fields"?: ({ "name": string; "label"?: string | null | undefined; "type": "text" | "textarea" | "number" | "boolean" | "select" | "url" | "email" | "date" | "json" | "file"; "required"?: boolean | null | undefined; "placeholder"?: string | null | undefined; "options"?: (string)[] | null | undefined; "description"?: string | null | undefined; "default"?: unknown | undefined; "min"?: number | null | undefined; "max"?: number | null | undefined; "pattern"?: string | null | undefined; "patternMessage"?: string | null | undefined; "showIf"?: { "field": string; "equals": boolean | string } | null | undefined })[] | null | undefined; "redirectUrl"?: string | null | undefined; "testMode"?: boolean | null | undefined; "responseMode"?: "immediately" | "lastNode" | null | undefined; "preflight"?: boolean | null | undefined; "onUnconfirmed"?: "hold" | "redeliver" | null | undefined; "onError"?: "retry" | "fail" | null | undefined; "capture"?: "onPayment" | "onSuccess" | "escrow" | null | undefined; "runSeconds"?: number | null | undefined; "refundOnFailure"?: boolean | null | undefined; "embedOrigins"?: (string)[] | null | undefined; "trialRuns"?: number | null | undefined; "trialsPerDay"?: number | null | undefined; "plans"?: ({ "id": string; "name": string; "price": number; "kind": "runs"; "runs": number } | { "id": string; "name": string; "price": number; "kind": "period"; "days": number; "runs"?: number | null | undefined })[] | null | undefined; "chat"?: { "greeting"?: string | null | undefined } | null | undefined; "notify"?: { "sale": boolean; "failure": boolean } | null | undefined; "version"?: number | undefined }
  "NewConnection": { "provider": string; "name"?: string | null | undefined; "agentId"?: string | null | undefined; "connectionId"?: string | null | undefined; "default"?: boolean | undefined; "secret"?: string | null | undefined; "secrets"?: Record<string, string> | undefined; "client"?: { "id": string; "secret": string; "authentication"?: "basic" | "post" | undefined; "scopes"?: (string)[] | undefined } | null | undefined }
  "NewAuthorization": { "provider": string; "name"?: string | null | undefined; "agentId"?: string | null | undefined; "scopes"?: (string)[] | undefined; "connectionId"?: string | null | undefined; "byCode"?: boolean | undefined }
  "ConnectionChange": { "name"?: string | undefined; "default"?: boolean | undefined }
  "NewPaywall": { "slug": string; "name": string; "upstreamUrl": string; "routes": ({ "method": "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "*"; "path": string; "pricing": { "model": "free" } | { "model": "per-request"; "amount": number } | { "model": "tiered"; "tiers": ({ "upTo"?: number | null | undefined; "amount": number })[]; "window": "day" | "week" | "month" | "lifetime" } | { "model": "per-token"; "input": number; "output": number; "minimum": number; "maximum": number } | { "model": "per-minute"; "amount": number; "minimum": number; "maximum": number }; "description"?: string | null | undefined; "settle"?: "after" | "before" | null | undefined; "paymentIdentifier"?: "optional" | "required" | null | undefined; "signIn"?: { "seconds": number } | null | undefined })[]; "network": "base" | "base-sepolia"; "recipient"?: string | null | undefined; "testMode"?: boolean | null | undefined; "status"?: "active" | "paused" | null | undefined; "upstreamHeaders"?: Record<string, string> | null | undefined; "milestones"?: (number)[] | null | undefined }
  "PaywallChange": { "slug"?: string | undefined; "name"?: string | undefined; "upstreamUrl"?: string | undefined; "routes"?: ({ "method": "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "*"; "path": string; "pricing": { "model": "free" } | { "model": "per-request"; "amount": number } | { "model": "tiered"; "tiers": ({ "upTo"?: number | null | undefined; "amount": number })[]; "window": "day" | "week" | "month" | "lifetime" } | { "model": "per-token"; "input": number; "output": number; "minimum": number; "maximum": number } | { "model": "per-minute"; "amount": number; "minimum": number; "maximum": number }; "description"?: string | null | undefined; "settle"?: "after" | "before" | null | undefined; "paymentIdentifier"?: "optional" | "required" | null | undefined; "signIn"?: { "seconds": number } | null | undefined })[] | undefined; "recipient"?: string | null | undefined; "network"?: "base" | "base-sepolia" | undefined; "testMode"?: boolean | undefined; "status"?: "active" | "paused" | undefined; "upstreamHeaders"?: Record<string, string> | undefined; "milestones"?: (number)[] | undefined; "version"?: number | undefined }
  "InvoicingChange": { "enabled"?: boolean | undefined; "sellerName"?: string | "" | undefined; "sellerAddress"?: string | "" | undefined; "sellerTaxId"?: string | "" | undefined; "taxLabel"?: string | undefined; "taxPercent"?: number | undefined; "prefix"?: string | undefined; "note"?: string | "" | undefined }
  "CheckoutChoice": { "quantity"?: number | undefined; "amount"?: number | undefined; "coupon"?: string | undefined; "plan"?: string | undefined }
  "Error": { "error": string; "code": string; "requestId": string; "details"?: Record<string, string> | undefined }
  "ApiKey": { "id": string; "name": string; "prefix": string; "lastFour": string; "environment": "sandbox" | "production"; "agentId": string | null; "expiresAt": string | null; "lastUsedAt": string | null; "createdAt": string }
  "WebhookEndpoint": { "id": string; "url": string; "events": ("payment.completed" | "payment.failed" | "payment.refunded" | "refund.failed" | "dispute.opened" | "dispute.closed" | "customer.first_payment" | "revenue.milestone" | "pricing.tier_changed" | "run.completed" | "run.failed" | "checkout.paused" | "pass.created" | "pass.ending" | "pass.ended" | "agent.spending.warning" | "agent.spending.exceeded" | "agent.paused" | "connection.expired" | "wallet.low_balance" | "delivery.unconfirmed" | "delivery.stopped" | "delivery.exhausted" | "endpoint.disabled")[]; "status": "enabled" | "disabled"; "failingSince": string | null; "disabledAt": string | null; "createdAt": string }
  "Delivery": { "id": string; "subject": string; "target": string | null; "url": string; "status": "pending" | "claimed" | "delivered" | "unconfirmed" | "stopped" | "exhausted"; "attemptCount": number; "lastStatus": number | null; "lastError": string | null; "lastAttemptAt": string | null; "nextAttemptAt": string | null; "claimedAt": string | null; "deliveredAt": string | null; "createdAt": string }
  "DeliveryDetail": { "id": string; "subject": string; "target": string | null; "url": string; "status": "pending" | "claimed" | "delivered" | "unconfirmed" | "stopped" | "exhausted"; "attemptCount": number; "lastStatus": number | null; "lastError": string | null; "lastAttemptAt": string | null; "nextAttemptAt": string | null; "claimedAt": string | null; "deliveredAt": string | null; "createdAt": string; "body": string; "attempts": ({ "at": string; "durationMs": number; "status": number | null; "error": string | null; "answer": string | null })[] }
  "Agent": { "id": string; "name": string; "status": "active" | "paused"; "environment": "sandbox" | "production"; "limits": { "perCall": number | null; "perMinute": number | null; "perDay": number | null; "perWeek": number | null; "perMonth": number | null; "lifetime": number | null }; "rate": { "callsPerMinute": number | null }; "tools": { "allow": (string)[] | null; "deny": (string)[] }; "rdas": { "allow": (string)[] | null; "deny": (string)[] }; "domains": { "allow": (string)[] | null; "deny": (string)[] }; "approvalAbove": number | null; "alerts": ({ "at": number; "limit": "perMinute" | "perDay" | "perWeek" | "perMonth" | "lifetime" | null })[]; "onExceeded": "refuse" | "pause"; "defaultPerDay": number | null; "warnings": (string)[]; "createdAt": string; "updatedAt": string }
  "SpendingDecision": { "id": string; "at": string; "kind": "run" | "tool" | "pay"; "target": string; "domain": string | null; "amount": number; "returned": number; "outcome": "allowed" | "refused" | "held"; "rule": string | null; "pattern": string | null; "reference": string | null; "approvalId": string | null }
  "Approval": { "id": string; "status": "pending" | "approved" | "refused" | "lapsed" | "used"; "agentId": string; "agentName": string; "kind": "run" | "tool" | "pay"; "target": string; "amount": number; "requestHash": string; "createdAt": string; "expiresAt": string; "decidedAt": string | null; "reference": string | null }
  "PaidCall": { "id": string; "status": "pending" | "settled" | "returned"; "confirmed": boolean; "amount": number; "currency": "USDC"; "maxAmount": number; "network": string; "payer": string; "recipient": string; "txHash": string | null; "url": string; "method": string; "agentId": string | null; "responseStatus": number | null; "protocol": "x402" | "mpp"; "receipt": Record<string, unknown> | null; "reason": string | null; "expiresAt": string; "createdAt": string; "endedAt": string | null }
  "Payment": { "id": string; "product": "tool" | "checkout" | "gate" | "asset"; "subject": string; "name": string | null; "state": "created" | "settling" | "paid" | "refunded" | "released" | "failed"; "amount": number; "refunded": number; "refundable": number; "currency": "USDC"; "network": string; "payer": string; "recipient": string | null; "txHash": string | null; "explorerUrl": string | null; "reason": { "code": string; "sentence": string } | null; "test": boolean; "createdAt": string; "paidAt": string | null }
  "PaymentWithRefunds": { "id": string; "product": "tool" | "checkout" | "gate" | "asset"; "subject": string; "name": string | null; "state": "created" | "settling" | "paid" | "refunded" | "released" | "failed"; "amount": number; "refunded": number; "refundable": number; "currency": "USDC"; "network": string; "payer": string; "recipient": string | null; "txHash": string | null; "explorerUrl": string | null; "reason": { "code": string; "sentence": string } | null; "test": boolean; "createdAt": string; "paidAt": string | null; "refunds": (Schemas["Refund"])[] }
  "Refund": { "id": string; "paymentId": string; "state": "requested" | "funded" | "sent" | "confirmed" | "failed"; "amount": number; "currency": "USDC"; "network": string; "to": string; "from": "wallet" | "account" | "simulated" | "own"; "reason": string | null; "requestedBy": "seller" | "rule" | "dispute" | "agent"; "waitsFor": { "code": "insufficient_balance" | "withdrawal_limit" | "quota_exceeded" | "payouts_paused"; "sentence": string; "missing": number | null } | null; "failure": { "code": string; "sentence": string } | null; "txHash": string | null; "explorerUrl": string | null; "test": boolean; "createdAt": string; "expiresAt": string | null; "toSign": Schemas["TransferTypedData"] | null; "fundedAt": string | null; "sentAt": string | null; "endedAt": string | null }
  "TransferTypedData": { "domain": { "name": string; "version": string; "chainId": number; "verifyingContract": string }; "types": { "EIP712Domain": ({ "name": string; "type": string })[]; "TransferWithAuthorization": ({ "name": string; "type": string })[] }; "primaryType": "TransferWithAuthorization"; "message": { "from": string; "to": string; "value": string; "validAfter": string; "validBefore": string; "nonce": string } }
  "Dispute": { "id": string; "state": "open" | "refunding" | "refunded" | "declined" | "closed"; "reason": "service_not_delivered" | "service_defective" | "duplicate_payment" | "overcharge" | "customer_request" | "other"; "text": string | null; "answer": string | null; "answerBy": string; "refundId": string | null; "createdAt": string; "endedAt": string | null; "openedBy": "buyer" | "agent"; "amount": number; "unanswered": "refund" | "close"; "decidedBy": "seller" | "deadline" | "policy" | null; "refundFailure": string | null; "payment": { "id": string; "product": "tool" | "checkout" | "gate" | "asset"; "subject": string; "amount": number; "refundable": number; "payer": string; "network": string; "test": boolean } }
  "RefundPolicy": { "windowDays": number; "answerDays": number; "unanswered": "refund" | "close"; "partialRefunds": boolean; "agents": "automatic" | "asked"; "automaticPerSale": number; "automaticPerDay": number }
  "Pass": { "id": string; "checkoutId": string; "plan": { "id": string; "name": string }; "holder": string; "testMode": boolean; "status": "active" | "used_up" | "ended"; "runs": number | null; "runsLeft": number | null; "until": string | null; "endedAt": string | null; "endReason": "owner" | "time" | "refunded" | null; "createdAt": string }
  "Wallet": { "userId": string; "walletAddress": string | null; "balance": number; "availableBalance": number; "pendingLocks": Record<string, number>; "totalLocked": number; "totalDeposited": number; "totalSpent": number }
  "Transaction": { "id": string; "type": "deposit" | "sale" | "charge" | "earning" | "withdrawal" | "refund"; "amount": number; "balanceAfter": number; "reference": string | null; "createdAt": string }
  "Withdrawal": { "id": string; "status": "pending" | "submitted" | "confirmed" | "failed"; "amount": number; "to": string; "network": string; "txHash": string | null; "reason": "treasury_short" | "expired" | "canceled" | null; "createdAt": string; "submittedAt": string | null; "endedAt": string | null }
  "File": { "id": string; "name": string; "purpose": "sale" | "picture" | "answer" | "input"; "mediaType": string; "bytes": number; "sha256": string; "width": number | null; "height": number | null; "url": string | null; "keptUntil": string | null; "createdAt": string }
  "Coupon": { "id": string; "code": string; "percent": number | null; "amount": number | null; "max": number | null; "perCustomer": number | null; "until": string | null; "checkouts": (string)[] | null; "used": number; "tested": number; "archivedAt": string | null; "createdAt": string; "updatedAt": string }
  "Checkout": { "id": string; "url": string; "x402Url": string; "mcpUrl": string; "status": "active" | "paused" | "expired"; "lifetime": "temporary" | "persistent"; "expiresAt": string | null; "callbackUrl": string | null; "after": { "kind": "webhook" } | { "kind": "text"; "text": string } | { "kind": "link"; "url": string } | { "kind": "file"; "fileId": string; "name": string; "mediaType": string; "bytes": number }; "picture": { "fileId": string; "width": number; "height": number } | null; "product": { "name": string; "description": string | null }; "price": number; "pricing": { "kind": "fixed" } | { "kind": "quantity"; "min": number; "max": number } | { "kind": "choose"; "min": number; "max": number | null; "suggested": number | null } | { "kind": "byField"; "field": string; "prices": Record<string, number> }; "coupons": boolean; "currency": "USDC"; "network": "base" | "base-sepolia"; "recipient": string | null; "fields": (Schemas["Field"])[]; "redirectUrl": string | null; "testMode": boolean; "responseMode": "immediately" | "lastNode"; "preflight": boolean; "onUnconfirmed": "hold" | "redeliver"; "onError": "retry" | "fail"; "capture": "onPayment" | "onSuccess" | "escrow"; "runSeconds": number; "refundOnFailure": boolean; "embedOrigins": (string)[]; "trialRuns": number; "trialsPerDay": number; "plans": ({ "id": string; "name": string; "price": number; "kind": "runs" | "period"; "runs": number | null; "days"?: number | undefined })[]; "chat": { "greeting": string | null } | null; "notify": { "sale": boolean; "failure": boolean }; "source": { "instanceId": string; "workflowId": string; "nodeId": string } | null; "version": number; "pausedAt": string | null; "expiredAt": string | null; "createdAt": string; "updatedAt": string }
  "Field": { "name": string; "label": string; "type": "text" | "textarea" | "number" | "boolean" | "select" | "url" | "email" | "date" | "json" | "file"; "required": boolean; "placeholder": string | null; "options": (string)[] | null; "description": string | null; "default": unknown; "min": number | null; "max": number | null; "pattern": string | null; "patternMessage"?: string | null | undefined; "showIf"?: { "field": string; "equals": boolean | string } | undefined }
  "CheckoutLines": { "unit": number; "quantity": number; "subtotal": number; "coupon": string | null; "discount": number; "total": number }
  "CheckoutPayment": { "payment": { "id": string; "checkoutId": string; "status": "created" | "settling" | "paid" | "failed"; "txHash": string | null; "amount": number; "lines": Schemas["CheckoutLines"]; "refunded": number; "refunds": ({ "id": string; "state": "requested" | "funded" | "sent" | "confirmed" | "failed"; "amount": number; "txHash": string | null; "explorerUrl": string | null })[]; "collect": { "addressId": string; "token": string } | null; "currency": "USDC"; "network": "base" | "base-sepolia"; "payer": string; "explorerUrl": string | null; "reason": { "code": string; "sentence": string } | null; "statusUrl": string; "testMode": boolean; "capture": "onPayment" | "onSuccess" | "escrow"; "deadline": string | null; "escrow": { "contract": string; "captureBy": string; "state": "authorizing" | "waiting" | "capturing" | "captured" | "voiding" | "voided" | "reclaimable" | "none"; "authorizedTx": string | null; "voidedTx": string | null } | null; "free": "pass" | "trial" | "coupon" | null; "pass": { "id": string; "plan": { "id": string; "name": string }; "status": "active" | "used_up" | "ended"; "runs": number | null; "runsLeft": number | null; "until": string | null; "token": string | null } | null; "createdAt": string; "paidAt": string | null; "redirectUrl": string | null; "token": string | null; "receiptUrl": string | null; "signedReceipt": string | null; "verifyUrl": string | null }; "result": { "kind": "text"; "text": string } | { "kind": "link"; "url": string } | { "kind": "file"; "name": string; "mediaType": string; "bytes": number; "url": string | null } | null; "requests": ({ "id": string; "status": "open" | "paying" | "paid" | "refused" | "expired"; "amount": number; "currency": "USDC"; "note": string; "url": string; "paymentId": string | null; "expiresAt": string })[]; "delivery": { "id": string; "status": string; "attempts": number; "lastStatus": number | null; "lastError": string | null; "nextAttemptAt": string | null; "history": ({ "at": string; "status": number | null; "error": string | null })[] | null; "answer": string | null; "failure": string | null; "progress": ({ "text": string; "percent": number | null; "at": string })[] } | null }
  "PaymentRequest": { "id": string; "status": "open" | "paying" | "paid" | "refused" | "expired"; "amount": number; "currency": "USDC"; "note": string; "url": string; "paymentId": string | null; "expiresAt": string; "of": string; "checkoutId": string; "callbackUrl": string | null; "createdAt": string; "endedAt": string | null }
  "ReducedRda": { "id": string; "slug": string; "name": string; "description": string; "type": "prompt" | "agent" | "tool"; "status": "draft" | "published" | "archived"; "verified": boolean; "featured": boolean; "trending": boolean; "coverImage": string | null; "ownerId": string; "ownerName": string | null; "createdAt": string; "updatedAt": string; "pricing": { "model": "per-run" | "per-token" | "per-second" | "free"; "amount": number; "currency": "USDC" }; "stats": { "totalRuns": number; "averageRating": number; "successRate": number } }
  "Rda": { "id": string; "slug": string; "name": string; "description": string; "type": "prompt" | "agent" | "tool"; "status": "draft" | "published" | "archived"; "verified": boolean; "featured": boolean; "trending": boolean; "coverImage": string | null; "ownerId": string; "ownerName": string | null; "createdAt": string; "updatedAt": string; "longDescription": string | null; "tags": (string)[]; "codeSnippet": string | null; "codeLanguage": string | null; "version": string; "sharesInputs": boolean; "schema": { "inputs": (Schemas["Field"])[]; "outputs": { "type": "markdown" | "text" | "json" | "file" } }; "promptConfig": { "promptTemplate": string | null; "systemPrompt": string | null; "allowedModels": ({ "id": string; "name": string; "tier": string })[]; "defaultModelId": string; "sourcePrice": number | null; "freeRunsPerDay": number | null; "examples": ({ "id": string; "title": string; "inputs": Record<string, unknown>; "output": string; "model": string | null })[] } | null; "agentConfig": { "webhookUrl": string | null; "webhookMethod": "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null; "webhookHeaders": Record<string, string> | null; "timeoutSeconds": number; "maxRetries": number; "pollUrl": string | null; "pollIntervalMs": number; "basePrice": number | null; "examples": ({ "id": string; "title": string; "inputs": Record<string, unknown>; "output": string })[] } | null; "toolConfig": { "apiEndpoint": string | null; "apiMethod": "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null; "apiHeaders": Record<string, string> | null; "authType": "none" | "api_key" | "bearer" | "basic" | null; "authConfig": Record<string, string> | null; "requestTransform": string | null; "responseTransform": string | null; "timeoutSeconds": number; "rateLimitPerMinute": number | null; "basePrice": number | null; "examples": ({ "id": string; "title": string; "inputs": Record<string, unknown>; "output": string })[] } | null; "pricing": { "model": "per-run" | "per-token" | "per-second" | "free"; "amount": number; "currency": "USDC"; "estimatedCost": string; "maxCost": number }; "stats": { "totalRuns": number; "averageRating": number; "successRate": number; "totalRevenue": number; "totalRatings": number; "averageLatency": number }; "ownerVerified": boolean; "publishedAt": string | null }
  "Usage": { "prompt_tokens": number; "completion_tokens": number; "total_tokens": number } | null
  "PaymentRequired": { "error": string; "code": string; "x402Version": 1; "accepts": (Record<string, unknown>)[]; "amount": string; "currency": "USDC"; "recipient": string; "reason": string | null }
  "RunResult": { "success": boolean; "runId": string; "output": string; "cost": number; "duration": number; "modelId": string | null; "usage": Schemas["Usage"] }
  "RunSummary": { "id": string; "rdaId": string; "rdaSlug": string; "rdaType": "prompt" | "agent" | "tool"; "rdaVersion": string; "agentId": string | null; "status": "queued" | "running" | "succeeded" | "failed" | "canceled"; "maxCost": number; "cost": number; "duration": number | null; "modelId": string | null; "usage": Schemas["Usage"]; "error": string | null; "code": string | null; "createdAt": string; "startedAt": string | null; "endedAt": string | null }
  "CustomerRun": { "id": string; "rdaId": string; "rdaSlug": string; "rdaVersion": string; "status": "queued" | "running" | "succeeded" | "failed" | "canceled"; "cost": number; "duration": number | null; "modelId": string | null; "usage": Schemas["Usage"]; "error": string | null; "code": string | null; "createdAt": string; "startedAt": string | null; "endedAt": string | null; "inputsShared": boolean; "inputs": Record<string, unknown> | null }
  "Run": { "id": string; "rdaId": string; "rdaSlug": string; "rdaType": "prompt" | "agent" | "tool"; "rdaVersion": string; "agentId": string | null; "status": "queued" | "running" | "succeeded" | "failed" | "canceled"; "maxCost": number; "cost": number; "duration": number | null; "modelId": string | null; "usage": Schemas["Usage"]; "error": string | null; "code": string | null; "createdAt": string; "startedAt": string | null; "endedAt": string | null; "inputs": Record<string, unknown>; "output": string | null; "webhookUrl": string | null; "timeline": ({ "status": "queued" | "running" | "succeeded" | "failed" | "canceled"; "at": string })[] }
  "Connection": { "id": string; "provider": string; "name": string; "default": boolean; "agentId": string | null; "kind": "key" | "oauth" | "client"; "state": "pending" | "active" | "refreshing" | "expired" | "revoked"; "hosts": (string)[]; "scopes": (string)[]; "failure": string | null; "expiresAt": string | null; "lastUsedAt": string | null; "createdAt": string; "updatedAt": string }
  "Paywall": { "id": string; "slug": string; "url": string; "name": string; "upstreamUrl": string; "upstreamHeaders": (string)[]; "routes": ({ "method": string; "path": string; "pricing": { "model": "free" | "per-request" | "tiered" | "per-token" | "per-minute" }; "description": string | null; "settle": "after" | "before"; "paymentIdentifier": "optional" | "required"; "signIn": { "seconds": number } | null })[]; "recipient": string | null; "network": "base" | "base-sepolia"; "testMode": boolean; "testToken": string | null; "status": "active" | "paused"; "milestones": (number)[]; "version": number; "createdAt": string; "updatedAt": string }
  "PaywallPayment": { "id": string; "status": "calling" | "released" | "settling" | "paid" | "failed"; "kind": "request" | "balance"; "route": string; "endpoint": string; "amount": number; "refunded": number; "currency": "USDC"; "network": "base" | "base-sepolia"; "payer": string; "txHash": string | null; "reason": string | null; "delivered": boolean; "testMode": boolean; "createdAt": string; "endedAt": string | null; "signedReceipt": string | null; "verifyUrl": string | null }
  "PaywallAnalytics": { "from": string; "to": string; "revenue": number; "customers": number; "total": { "calls": number; "payments": number; "revenue": number; "drawn": number; "refusals": Record<string, number> }; "routes": ({ "route": string; "calls": number; "payments": number; "revenue": number; "drawn": number; "refusals": Record<string, number> })[]; "days": ({ "day": string; "calls": number; "payments": number; "revenue": number; "drawn": number; "refusals": Record<string, number> })[] }
  "Invoicing": { "enabled": boolean; "sellerName": string | ""; "sellerAddress": string | ""; "sellerTaxId": string | ""; "taxLabel": string; "taxPercent": number; "prefix": string; "note": string | "" }
  "Invoice": { "number": string; "paymentId": string; "issuedAt": string; "buyer": { "name": string; "address": string; "country": string; "taxId": string }; "product": string; "total": string; "tax": string | null }
  "Chat": { "pass": Schemas["Pass"]; "turns": ({ "turn": number; "status": "working" | "answered" | "failed"; "message": string; "answer": string | null; "isCut": boolean; "paymentId": string; "token": string; "receiptUrl": string; "at": string })[] }
  "PaymentAddress": { "id": string; "checkoutId": string; "status": "waiting" | "partly_paid" | "paying" | "paid" | "expired" | "failed"; "network": string; "chainId": number; "address": string; "amount": number; "received": number; "missing": number; "link": string | null; "qr": string | null; "left": number; "reason": string | null; "payment": { "id": string; "token": string } | null; "returns": ({ "to": string; "amount": number; "status": "returning" | "returned" | "failed"; "explorerUrl": string | null })[]; "returnMinimum": number; "expiresAt": string; "createdAt": string }
  "RefundRequestAnswer": { "status": "executed" | "pending" | "denied"; "amount": string; "refundTxHash"?: string | null | undefined; "denialReason"?: "outside_window" | "not_payer" | "already_refunded" | "amount_exceeds_settled" | "policy_denied" | "unknown_payment" | undefined }
  "Report": { "id": string; "state": "open" | "refunding" | "refunded" | "declined" | "closed"; "reason": "service_not_delivered" | "service_defective" | "duplicate_payment" | "overcharge" | "customer_request" | "other"; "text": string | null; "answer": string | null; "answerBy": string; "refundId": string | null; "createdAt": string; "endedAt": string | null }
  "Receipt": { "receipt": { "id": string; "product": "tool" | "checkout" | "gate" | "asset"; "name": string; "status": string; "amount": number; "currency": "USDC"; "network": string; "payer": string; "txHash": string | null; "testMode": boolean; "createdAt": string; "paidAt": string | null; "refunds": ({ "id": string; "state": "requested" | "funded" | "sent" | "confirmed" | "failed"; "amount": number; "txHash": string | null; "explorerUrl": string | null })[] }; "delivery": { "id": string; "status": string; "attempts": number; "lastStatus": number | null; "lastError": string | null; "nextAttemptAt": string | null; "history": ({ "at": string; "status": number | null; "error": string | null })[] | null; "answer": string | null; "failure": string | null; "progress": ({ "text": string; "percent": number | null; "at": string })[] } | null; "result": { "kind": "text"; "text": string } | { "kind": "link"; "url": string } | { "kind": "file"; "name": string; "mediaType": string; "bytes": number; "url": string | null } | null; "dispute": { "id": string; "state": string; "reason": string; "answer": string | null; "answerBy": string; "createdAt": string } | null; "signed": { "eip712": { "format": "eip712"; "payload": { "version": 1; "network": string; "resourceUrl": string; "payer": string; "issuedAt": number; "transaction": string }; "signature": string }; "jws": { "format": "jws"; "signature": string }; "terms": { "format": "jws"; "signature": string } | null; "verifyUrl": string } | null }
}

/** Every operation: its query, its body, and the body of a success. */
export interface Api {
  /** Get the calling account and its environment */
  "GET /v1/me": {
    query: Record<never, never>
    body: undefined
    answer: { "userId": string; "environment": "sandbox" | "production"; "keyId": string | null; "agentId": string | null; "handle": string | null; "wallet": Record<string, unknown> | null }
  }
  /** Choose the handle under which everyone finds your active checkouts, published RDAs and paid routes */
  "PATCH /v1/me": {
    query: Record<never, never>
    body: { "handle": string | null }
    answer: { "userId": string; "environment": "sandbox" | "production"; "keyId": string | null; "agentId": string | null; "handle": string | null; "wallet": Record<string, unknown> | null }
  }
  /** Sign up with a token of the configured identity provider */
  "POST /v1/me": {
    query: Record<never, never>
    body: undefined
    answer: { "userId": string; "environment": "sandbox" | "production"; "keyId": string | null; "agentId": string | null; "handle": string | null; "wallet": Record<string, unknown> | null }
  }
  /** Your API keys in this environment, newest first */
  "GET /v1/keys": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "keys": (Schemas["ApiKey"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Create an API key; only this response contains its secret */
  "POST /v1/keys": {
    query: Record<never, never>
    body: { "name": string; "agentId"?: string | null | undefined; "expiresAt"?: string | null | undefined }
    answer: { "key": Schemas["ApiKey"]; "secret": string | null }
  }
  /** Revoke a key immediately */
  "DELETE /v1/keys/{id}": {
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  /** The secret that signs calls to your agents' webhooks and run webhooks */
  "GET /v1/signing-secret": {
    query: Record<never, never>
    body: undefined
    answer: { "signingSecret": { "secret": string | null; "createdAt": string; "previousExpiresAt": string | null } }
  }
  /** Create a new signing secret; the old secret stays valid for 24 hours */
  "POST /v1/signing-secret": {
    query: Record<never, never>
    body: undefined
    answer: { "signingSecret": { "secret": string | null; "createdAt": string; "previousExpiresAt": string | null } }
  }
  /** Your webhook endpoints in this environment, newest first */
  "GET /v1/webhook-endpoints": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "webhookEndpoints": (Schemas["WebhookEndpoint"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Create a webhook endpoint; only this response contains its secret */
  "POST /v1/webhook-endpoints": {
    query: Record<never, never>
    body: { "url": string; "events": ("payment.completed" | "payment.failed" | "payment.refunded" | "refund.failed" | "dispute.opened" | "dispute.closed" | "customer.first_payment" | "revenue.milestone" | "pricing.tier_changed" | "run.completed" | "run.failed" | "checkout.paused" | "pass.created" | "pass.ending" | "pass.ended" | "agent.spending.warning" | "agent.spending.exceeded" | "agent.paused" | "connection.expired" | "wallet.low_balance" | "delivery.unconfirmed" | "delivery.stopped" | "delivery.exhausted" | "endpoint.disabled")[]; "secret"?: string | null | undefined }
    answer: { "webhookEndpoint": Schemas["WebhookEndpoint"]; "secret": string | null }
  }
  /** One of your webhook endpoints */
  "GET /v1/webhook-endpoints/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "webhookEndpoint": Schemas["WebhookEndpoint"] }
  }
  /** Change the address or events of an endpoint, or enable or disable it */
  "PATCH /v1/webhook-endpoints/{id}": {
    query: Record<never, never>
    body: { "url"?: string | undefined; "events"?: ("payment.completed" | "payment.failed" | "payment.refunded" | "refund.failed" | "dispute.opened" | "dispute.closed" | "customer.first_payment" | "revenue.milestone" | "pricing.tier_changed" | "run.completed" | "run.failed" | "checkout.paused" | "pass.created" | "pass.ending" | "pass.ended" | "agent.spending.warning" | "agent.spending.exceeded" | "agent.paused" | "connection.expired" | "wallet.low_balance" | "delivery.unconfirmed" | "delivery.stopped" | "delivery.exhausted" | "endpoint.disabled")[] | undefined; "status"?: "enabled" | "disabled" | undefined }
    answer: { "webhookEndpoint": Schemas["WebhookEndpoint"] }
  }
  /** Delete a webhook endpoint */
  "DELETE /v1/webhook-endpoints/{id}": {
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  /** Rotate the secret of an endpoint; the old secret stays valid for 24 hours */
  "POST /v1/webhook-endpoints/{id}/rotate-secret": {
    query: Record<never, never>
    body: undefined
    answer: { "webhookEndpoint": Schemas["WebhookEndpoint"]; "secret": string | null }
  }
  /** Send a test event, with all fields, of each type that the endpoint subscribes to */
  "POST /v1/webhook-endpoints/{id}/test": {
    query: Record<never, never>
    body: { "event"?: "payment.completed" | "payment.failed" | "payment.refunded" | "refund.failed" | "dispute.opened" | "dispute.closed" | "customer.first_payment" | "revenue.milestone" | "pricing.tier_changed" | "run.completed" | "run.failed" | "checkout.paused" | "pass.created" | "pass.ending" | "pass.ended" | "agent.spending.warning" | "agent.spending.exceeded" | "agent.paused" | "connection.expired" | "wallet.low_balance" | "delivery.unconfirmed" | "delivery.stopped" | "delivery.exhausted" | "endpoint.disabled" | undefined }
    answer: { "deliveryId": string; "deliveries": ({ "id": string; "event": "payment.completed" | "payment.failed" | "payment.refunded" | "refund.failed" | "dispute.opened" | "dispute.closed" | "customer.first_payment" | "revenue.milestone" | "pricing.tier_changed" | "run.completed" | "run.failed" | "checkout.paused" | "pass.created" | "pass.ending" | "pass.ended" | "agent.spending.warning" | "agent.spending.exceeded" | "agent.paused" | "connection.expired" | "wallet.low_balance" | "delivery.unconfirmed" | "delivery.stopped" | "delivery.exhausted" | "endpoint.disabled" })[] }
  }
  /** Stream the events of a `listen:` endpoint, oldest first, until they are confirmed */
  "GET /v1/webhook-endpoints/{id}/events": {
    query: Record<never, never>
    body: undefined
    answer: string
  }
  /** Confirm events of a `listen:` endpoint; those that are not confirmed are streamed again */
  "POST /v1/webhook-endpoints/{id}/events/confirm": {
    query: Record<never, never>
    body: { "deliveries": ({ "id": string; "turn"?: number | undefined; "status": number })[] }
    answer: undefined
  }
  /** Stream the events of a `listen:` endpoint again from a time on, at most seven days back */
  "POST /v1/webhook-endpoints/{id}/events/replay": {
    query: Record<never, never>
    body: { "since": string }
    answer: { "replayed": number }
  }
  /** Deliveries to your receivers, newest first */
  "GET /v1/deliveries": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "subject"?: string | undefined; "status"?: "pending" | "claimed" | "delivered" | "unconfirmed" | "stopped" | "exhausted" | undefined; "target"?: string | undefined }
    body: undefined
    answer: { "deliveries": (Schemas["Delivery"])[]; "total": number; "limit": number; "offset": number }
  }
  /** One delivery, with every attempt */
  "GET /v1/deliveries/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "delivery": Schemas["DeliveryDetail"] }
  }
  /** Redeliver now with the same webhook-id; it can be claimed again */
  "POST /v1/deliveries/{id}/redeliver": {
    query: Record<never, never>
    body: undefined
    answer: { "delivery": Schemas["DeliveryDetail"] }
  }
  /** Claim a delivery before you act on it: true for the first caller, false for all others */
  "POST /v1/deliveries/{id}/claim": {
    query: Record<never, never>
    body: undefined
    answer: { "claimed": boolean }
  }
  /** Your agents in this environment, newest first */
  "GET /v1/agents": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "agents": (Schemas["Agent"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Create an agent with its limits; POST /keys creates keys for it */
  "POST /v1/agents": {
    query: Record<never, never>
    body: { "name": string; "status"?: "active" | "paused" | undefined; "limits"?: { "perCall"?: number | null | undefined; "perMinute"?: number | null | undefined; "perDay"?: number | null | undefined; "perWeek"?: number | null | undefined; "perMonth"?: number | null | undefined; "lifetime"?: number | null | undefined } | undefined; "rate"?: { "callsPerMinute"?: number | null | undefined } | undefined; "tools"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "rdas"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "domains"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "approvalAbove"?: number | null | undefined; "alerts"?: ({ "at": number; "limit"?: "perMinute" | "perDay" | "perWeek" | "perMonth" | "lifetime" | null | undefined })[] | null | undefined; "onExceeded"?: "refuse" | "pause" | undefined }
    answer: { "agent": Schemas["Agent"] }
  }
  /** Get an agent and its rules */
  "GET /v1/agents/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "agent": Schemas["Agent"] }
  }
  /** Change an agent: omitted fields stay, null removes a rule, status pauses or resumes it */
  "PATCH /v1/agents/{id}": {
    query: Record<never, never>
    body: { "name"?: string | undefined; "status"?: "active" | "paused" | undefined; "limits"?: { "perCall"?: number | null | undefined; "perMinute"?: number | null | undefined; "perDay"?: number | null | undefined; "perWeek"?: number | null | undefined; "perMonth"?: number | null | undefined; "lifetime"?: number | null | undefined } | undefined; "rate"?: { "callsPerMinute"?: number | null | undefined } | undefined; "tools"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "rdas"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "domains"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "approvalAbove"?: number | null | undefined; "alerts"?: ({ "at": number; "limit"?: "perMinute" | "perDay" | "perWeek" | "perMonth" | "lifetime" | null | undefined })[] | null | undefined; "onExceeded"?: "refuse" | "pause" | undefined }
    answer: { "agent": Schemas["Agent"] }
  }
  /** Remove an agent and revoke its keys */
  "DELETE /v1/agents/{id}": {
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  /** Get what the agent may still spend in each window */
  "GET /v1/agents/{id}/policy": {
    query: Record<never, never>
    body: undefined
    answer: { "agentId": string; "status": "active" | "paused"; "policy": { "limits": { "perCall": number | null; "perMinute": number | null; "perDay": number | null; "perWeek": number | null; "perMonth": number | null; "lifetime": number | null }; "rate": { "callsPerMinute": number | null }; "tools": { "allow": (string)[] | null; "deny": (string)[] }; "rdas": { "allow": (string)[] | null; "deny": (string)[] }; "domains": { "allow": (string)[] | null; "deny": (string)[] }; "approvalAbove": number | null; "alerts": ({ "at": number; "limit": "perMinute" | "perDay" | "perWeek" | "perMonth" | "lifetime" | null })[]; "onExceeded": "refuse" | "pause" }; "windows": ({ "limit": "perMinute" | "perDay" | "perWeek" | "perMonth" | "lifetime"; "allowed": number | null; "spent": number; "remaining": number | null; "startsAt": string | null; "resetsAt": string | null })[]; "calls": { "allowed": number | null; "made": number; "resetsAt": string }; "warnings": (string)[] }
  }
  /** Check whether a call would be allowed now, without setting money aside */
  "POST /v1/agents/{id}/check": {
    query: Record<never, never>
    body: { "kind": "run" | "tool" | "pay"; "target": string; "amount": number; "domain"?: string | null | undefined }
    answer: { "outcome": "allowed" | "refused" | "held"; "limit": string | null; "allowed": number | null; "spent": number | null; "requested": number | null; "pattern": string | null; "resetsAt": string | null }
  }
  /** Which of the last days' calls other rules would have refused */
  "POST /v1/agents/{id}/simulate": {
    query: Record<never, never>
    body: { "policy": { "limits"?: { "perCall"?: number | null | undefined; "perMinute"?: number | null | undefined; "perDay"?: number | null | undefined; "perWeek"?: number | null | undefined; "perMonth"?: number | null | undefined; "lifetime"?: number | null | undefined } | undefined; "rate"?: { "callsPerMinute"?: number | null | undefined } | undefined; "tools"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "rdas"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "domains"?: { "allow"?: (string)[] | null | undefined; "deny"?: (string)[] | null | undefined } | undefined; "approvalAbove"?: number | null | undefined; "alerts"?: ({ "at": number; "limit"?: "perMinute" | "perDay" | "perWeek" | "perMonth" | "lifetime" | null | undefined })[] | null | undefined; "onExceeded"?: "refuse" | "pause" | undefined }; "days"?: number | undefined }
    answer: { "calls": number; "allowed": number; "refused": number; "held": number; "from": string; "complete": boolean; "refusals": ({ "id": string; "at": string; "kind": "run" | "tool" | "pay"; "target": string; "domain": string | null; "amount": number; "returned": number; "outcome": "allowed" | "refused" | "held"; "rule": string | null; "pattern": string | null; "reference": string | null; "approvalId": string | null; "would": { "outcome": "allowed" | "refused" | "held"; "limit": string | null; "allowed": number | null; "spent": number | null; "requested": number | null; "pattern": string | null; "resetsAt": string | null } })[] }
  }
  /** List decisions about the agent and the rules behind them, newest first */
  "GET /v1/agents/{id}/decisions": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "outcome"?: "allowed" | "refused" | "held" | undefined; "kind"?: "run" | "tool" | "pay" | undefined }
    body: undefined
    answer: { "decisions": (Schemas["SpendingDecision"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Get what the agent has spent, by day, target or kind */
  "GET /v1/agents/{id}/spending": {
    query: { "by"?: "day" | "target" | "kind" | undefined; "days"?: string | undefined }
    body: undefined
    answer: { "by": "day" | "target" | "kind"; "days": number; "spending": ({ "key": string; "amount": number; "calls": number })[] }
  }
  /** List approvals, pending and decided, newest first */
  "GET /v1/approvals": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "status"?: "pending" | "approved" | "refused" | "lapsed" | "used" | undefined; "agentId"?: string | undefined }
    body: undefined
    answer: { "approvals": (Schemas["Approval"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Get an approval; the agent that requested it may read it too */
  "GET /v1/approvals/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "approval": Schemas["Approval"] }
  }
  /** Approve the call, once */
  "POST /v1/approvals/{id}/approve": {
    query: Record<never, never>
    body: undefined
    answer: { "approval": Schemas["Approval"] }
  }
  /** Refuse the call */
  "POST /v1/approvals/{id}/refuse": {
    query: Record<never, never>
    body: undefined
    answer: { "approval": Schemas["Approval"] }
  }
  /** The approval page that the mail links to */
  "GET /v1/approvals/{id}/page": {
    query: { "ticket": string }
    body: undefined
    answer: string
  }
  /** Submit the approval page: approve */
  "POST /v1/approvals/{id}/page/approve": {
    query: { "ticket": string }
    body: undefined
    answer: string
  }
  /** Submit the approval page: refuse */
  "POST /v1/approvals/{id}/page/refuse": {
    query: { "ticket": string }
    body: undefined
    answer: string
  }
  /** Call an address and pay for the call by x402 or MPP */
  "POST /v1/pay": {
    query: Record<never, never>
    body: { "url": string; "method"?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined; "headers"?: Record<string, string> | null | undefined; "body"?: unknown | undefined; "maxAmount": number; "async"?: boolean | undefined }
    answer: { "payment": Schemas["PaidCall"] | null; "response": { "status": number; "headers": Record<string, string | (string)[]>; "body": string; "encoding": "utf8" | "base64" } | null }
  }
  /** List outgoing payments, newest first */
  "GET /v1/pay": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "payments": (Schemas["PaidCall"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Get an outgoing payment */
  "GET /v1/pay/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "payment": Schemas["PaidCall"]; "response": { "status": number; "headers": Record<string, string | (string)[]>; "body": string; "encoding": "utf8" | "base64" } | null }
  }
  /** Payments for your checkouts, paywalls and assets, newest first */
  "GET /v1/payments": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "product"?: "tool" | "checkout" | "gate" | "asset" | undefined; "state"?: "created" | "settling" | "paid" | "refunded" | "released" | "failed" | undefined; "payer"?: string | undefined; "from"?: string | undefined; "to"?: string | undefined; "refunded"?: "true" | "false" | undefined }
    body: undefined
    answer: { "payments": (Schemas["Payment"])[]; "total": number; "limit": number; "offset": number }
  }
  /** One payment with its refunds */
  "GET /v1/payments/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "payment": Schemas["PaymentWithRefunds"] }
  }
  /** Send a payment back to its payer, whole or in part, from your balance or from your own wallet */
  "POST /v1/payments/{id}/refund": {
    query: Record<never, never>
    body: { "amount"?: number | null | undefined; "reason": string; "from"?: "balance" | "own" | undefined }
    answer: { "refund": Schemas["Refund"] }
  }
  /** Hand in the signature for a refund from your own wallet; the server carries it out and pays the gas */
  "POST /v1/payments/{id}/refunds/{refundId}/signature": {
    query: Record<never, never>
    body: { "signature": string }
    answer: { "refund": Schemas["Refund"] }
  }
  /** Problems with payments that buyers reported, newest first */
  "GET /v1/disputes": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "state"?: "open" | "refunding" | "refunded" | "declined" | "closed" | undefined }
    body: undefined
    answer: { "disputes": (Schemas["Dispute"])[]; "total": number; "limit": number; "offset": number }
  }
  /** One dispute */
  "GET /v1/disputes/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "dispute": Schemas["Dispute"] }
  }
  /** Refund the buyer, whole or in part, or decline */
  "POST /v1/disputes/{id}/answer": {
    query: Record<never, never>
    body: { "action": "refund" | "decline"; "amount"?: number | null | undefined; "text"?: string | null | undefined }
    answer: { "dispute": Schemas["Dispute"] }
  }
  /** What you promise buyers who have a problem */
  "GET /v1/refund-policy": {
    query: Record<never, never>
    body: undefined
    answer: { "refundPolicy": Schemas["RefundPolicy"] }
  }
  /** Change what you promise buyers who have a problem; reports that are open keep their terms */
  "PATCH /v1/refund-policy": {
    query: Record<never, never>
    body: { "windowDays"?: number | undefined; "answerDays"?: number | undefined; "unanswered"?: "refund" | "close" | undefined; "partialRefunds"?: boolean | undefined; "agents"?: "automatic" | "asked" | undefined; "automaticPerSale"?: number | undefined; "automaticPerDay"?: number | undefined }
    answer: { "refundPolicy": Schemas["RefundPolicy"] }
  }
  /** Passes that customers have bought at your checkouts, newest first */
  "GET /v1/passes": {
    query: { "checkout"?: string | undefined; "holder"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }
    body: undefined
    answer: { "passes": (Schemas["Pass"])[]; "cursor": string | null }
  }
  /** One pass */
  "GET /v1/passes/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "pass": Schemas["Pass"] }
  }
  /** End a pass: it cannot be used any more. Its payment is not refunded by this */
  "POST /v1/passes/{id}/end": {
    query: Record<never, never>
    body: undefined
    answer: { "pass": Schemas["Pass"] }
  }
  /** Get the wallet and the amounts that runs in progress lock */
  "GET /v1/wallet/balance": {
    query: Record<never, never>
    body: undefined
    answer: { "wallet": Schemas["Wallet"] }
  }
  /** Record a deposit of USDC */
  "POST /v1/wallet/deposit": {
    query: Record<never, never>
    body: { "amount": number; "transactionHash"?: string | null | undefined }
    answer: { "deposited": boolean; "amount": number; "transactionHash": string | null; "newBalance": number }
  }
  /** The wallet's movements, newest first */
  "GET /v1/wallet/transactions": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "transactions": (Schemas["Transaction"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Pay out USDC to an address */
  "POST /v1/wallet/withdraw": {
    query: Record<never, never>
    body: { "amount": number; "to": string }
    answer: { "withdrawal": Schemas["Withdrawal"] }
  }
  /** Withdrawals, newest first */
  "GET /v1/wallet/withdrawals": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "withdrawals": (Schemas["Withdrawal"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Get a withdrawal and its status */
  "GET /v1/wallet/withdrawals/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "withdrawal": Schemas["Withdrawal"] }
  }
  /** Get the balance below which `wallet.low_balance` is sent */
  "GET /v1/wallet/alert": {
    query: Record<never, never>
    body: undefined
    answer: { "below": number | null }
  }
  /** Set the balance below which `wallet.low_balance` is sent; null turns it off */
  "POST /v1/wallet/alert": {
    query: Record<never, never>
    body: { "below": number | null }
    answer: { "below": number | null }
  }
  /** Free credits for the tools */
  "GET /v1/credits": {
    query: Record<never, never>
    body: undefined
    answer: { "credits": { "balance": number; "granted": number; "spent": number; "withheld": "sign_up_bound" | null } }
  }
  /** Receive the identity provider's signed events */
  "POST /v1/hooks/identity": {
    query: Record<never, never>
    body: unknown
    answer: { "received": boolean; "credited": number }
  }
  /** Upload a file: its bytes are the body; the same file again is the same file */
  "POST /v1/files": {
    query: { "name": string; "purpose"?: "sale" | "picture" | undefined }
    body: undefined
    answer: { "file": Schemas["File"] }
  }
  /** Your files in this environment, newest first, and how much room they take */
  "GET /v1/files": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "files": (Schemas["File"])[]; "total": number; "limit": number; "offset": number; "bytes": number; "bytesMax": number }
  }
  /** One file */
  "GET /v1/files/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "file": Schemas["File"] }
  }
  /** Delete a file that nothing uses any more */
  "DELETE /v1/files/{id}": {
    query: { "soldToo"?: "true" | "false" | undefined }
    body: undefined
    answer: undefined
  }
  /** How your pages show who sells */
  "GET /v1/brand": {
    query: Record<never, never>
    body: undefined
    answer: { "brand": { "name": string | null; "logo": string | null; "logoUrl": string | null; "accent": string | null; "accentNote": string | null; "colors": { "light": { "accent": string; "fill": string; "onFill": string; "fillDeep": string }; "dark": { "accent": string; "fill": string; "onFill": string; "fillDeep": string } } | null; "theme": "auto" | "light" | "dark"; "supportEmail": string | null; "supportUrl": string | null; "imprintUrl": string | null; "termsUrl": string | null; "privacyUrl": string | null } }
  }
  /** Change how your pages show who sells; what is left out stays, null removes */
  "PATCH /v1/brand": {
    query: Record<never, never>
    body: { "name"?: string | null | undefined; "logo"?: string | null | undefined; "accent"?: string | null | undefined; "theme"?: "auto" | "light" | "dark" | undefined; "supportEmail"?: string | null | undefined; "supportUrl"?: string | null | undefined; "imprintUrl"?: string | null | undefined; "termsUrl"?: string | null | undefined; "privacyUrl"?: string | null | undefined }
    answer: { "brand": { "name": string | null; "logo": string | null; "logoUrl": string | null; "accent": string | null; "accentNote": string | null; "colors": { "light": { "accent": string; "fill": string; "onFill": string; "fillDeep": string }; "dark": { "accent": string; "fill": string; "onFill": string; "fillDeep": string } } | null; "theme": "auto" | "light" | "dark"; "supportEmail": string | null; "supportUrl": string | null; "imprintUrl": string | null; "termsUrl": string | null; "privacyUrl": string | null } }
  }
  /** Create a code that makes purchases at your checkouts cheaper */
  "POST /v1/coupons": {
    query: Record<never, never>
    body: Schemas["CouponTerms"]
    answer: { "coupon": Schemas["Coupon"] }
  }
  /** Your coupons in this environment, newest first */
  "GET /v1/coupons": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "archived"?: "true" | "false" | undefined }
    body: undefined
    answer: { "coupons": (Schemas["Coupon"])[]; "total": number; "limit": number; "offset": number }
  }
  /** One coupon, also if it is archived */
  "GET /v1/coupons/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "coupon": Schemas["Coupon"] }
  }
  /** Change the limits of a coupon; what it takes off stays */
  "PATCH /v1/coupons/{id}": {
    query: Record<never, never>
    body: Schemas["CouponChange"]
    answer: { "coupon": Schemas["Coupon"] }
  }
  /** End a coupon at once, also for prices that were shown with it; its code is free for a new one */
  "POST /v1/coupons/{id}/archive": {
    query: Record<never, never>
    body: undefined
    answer: { "coupon": Schemas["Coupon"] }
  }
  /** Create a checkout for a workflow; the same source gets the same checkout and secret back */
  "POST /v1/checkouts": {
    query: Record<never, never>
    body: Schemas["CheckoutTerms"]
    answer: { "checkout": Schemas["Checkout"]; "secret": string | null }
  }
  /** Your checkouts in this environment, newest first */
  "GET /v1/checkouts": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "checkouts": (Schemas["Checkout"])[]; "total": number; "limit": number; "offset": number }
  }
  /** One checkout, even if it has expired */
  "GET /v1/checkouts/{id}": {
    query: { "secret"?: "true" | undefined }
    body: undefined
    answer: { "checkout": Schemas["Checkout"]; "secret"?: string | null | undefined }
  }
  /** Change a checkout; buyers who were shown it before the change get what they were shown */
  "PATCH /v1/checkouts/{id}": {
    query: Record<never, never>
    body: Schemas["CheckoutChange"]
    answer: { "checkout": Schemas["Checkout"] }
  }
  /** Expire a checkout; registering the same source again restores the same link */
  "DELETE /v1/checkouts/{id}": {
    query: { "graceSeconds"?: number | undefined; "lifetime"?: "temporary" | undefined }
    body: undefined
    answer: { "checkout": Schemas["Checkout"] }
  }
  /** Keep a temporary checkout open for 180 more seconds */
  "POST /v1/checkouts/{id}/heartbeat": {
    query: Record<never, never>
    body: undefined
    answer: { "checkout": Schemas["Checkout"] }
  }
  /** Rotate the secret; the old secret stays valid for 24 hours */
  "POST /v1/checkouts/{id}/rotate-secret": {
    query: Record<never, never>
    body: undefined
    answer: { "checkout": Schemas["Checkout"]; "secret": string | null }
  }
  /** Payments of a checkout, newest first */
  "GET /v1/checkouts/{id}/payments": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "payments": ({ "id": string; "checkoutId": string; "status": "created" | "settling" | "paid" | "failed"; "txHash": string | null; "amount": number; "lines": Schemas["CheckoutLines"]; "refunded": number; "refunds": ({ "id": string; "state": "requested" | "funded" | "sent" | "confirmed" | "failed"; "amount": number; "txHash": string | null; "explorerUrl": string | null })[]; "collect": { "addressId": string; "token": string } | null; "currency": "USDC"; "network": "base" | "base-sepolia"; "payer": string; "explorerUrl": string | null; "reason": { "code": string; "sentence": string } | null; "statusUrl": string; "testMode": boolean; "capture": "onPayment" | "onSuccess" | "escrow"; "deadline": string | null; "escrow": { "contract": string; "captureBy": string; "state": "authorizing" | "waiting" | "capturing" | "captured" | "voiding" | "voided" | "reclaimable" | "none"; "authorizedTx": string | null; "voidedTx": string | null } | null; "free": "pass" | "trial" | "coupon" | null; "pass": { "id": string; "plan": { "id": string; "name": string }; "status": "active" | "used_up" | "ended"; "runs": number | null; "runsLeft": number | null; "until": string | null; "token": string | null } | null; "createdAt": string; "paidAt": string | null; "redirectUrl": string | null; "token": string | null; "receiptUrl": string | null; "signedReceipt": string | null; "verifyUrl": string | null; "input": Record<string, unknown>; "delivery": { "id": string; "status": string; "attempts": number; "lastStatus": number | null; "lastError": string | null; "nextAttemptAt": string | null; "history": ({ "at": string; "status": number | null; "error": string | null })[] | null; "answer": string | null; "failure": string | null; "progress": ({ "text": string; "percent": number | null; "at": string })[] } | null })[]; "total": number; "limit": number; "offset": number }
  }
  /** Simulate a payment in test mode; without an input, sample values are used */
  "POST /v1/checkouts/{id}/test-payment": {
    query: Record<never, never>
    body: { "input"?: Record<string, unknown> | undefined }
    answer: Schemas["CheckoutPayment"]
  }
  /** Report how the work that a payment bought has ended; with `onSuccess` this decides whether it is charged */
  "POST /v1/payments/{id}/outcome": {
    query: Record<never, never>
    body: { "status": "succeeded" | "failed"; "answer"?: string | null | undefined }
    answer: Schemas["CheckoutPayment"]
  }
  /** Show the buyer a line of progress while the work that a payment bought is under way */
  "POST /v1/payments/{id}/progress": {
    query: Record<never, never>
    body: { "text": string; "percent"?: number | null | undefined }
    answer: { "shown": boolean }
  }
  /** Ask the buyer of a payment for a further amount, which is paid as a payment of its own */
  "POST /v1/payments/{id}/requests": {
    query: { "waits"?: "true" | undefined }
    body: { "amount": number; "note": string; "expiresInSeconds"?: number | undefined; "callbackUrl"?: string | null | undefined }
    answer: { "request": Schemas["PaymentRequest"] }
  }
  /** The further amounts that the buyer of a payment was asked for, oldest first */
  "GET /v1/payments/{id}/requests": {
    query: Record<never, never>
    body: undefined
    answer: { "requests": (Schemas["PaymentRequest"])[] }
  }
  /** List RDAs, most popular first */
  "GET /v1/rdas": {
    query: { "type"?: "prompt" | "agent" | "tool" | undefined; "status"?: "draft" | "published" | "archived" | undefined; "verified"?: "true" | "false" | undefined; "featured"?: "true" | "false" | undefined; "trending"?: "true" | "false" | undefined; "ownerId"?: string | undefined; "search"?: string | undefined; "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "rdas": (Schemas["ReducedRda"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Get an RDA; only its owner and who bought its template can get a draft */
  "GET /v1/rda/{identifier}": {
    query: Record<never, never>
    body: undefined
    answer: { "rda": Schemas["Rda"] }
  }
  /** Edit an RDA, which creates a new version; runs in progress keep theirs */
  "PATCH /v1/rda/{identifier}": {
    query: Record<never, never>
    body: { "name"?: string | undefined; "description"?: string | undefined; "inputSchema"?: ({ "name": string; "label"?: string | null | undefined; "type": "text" | "textarea" | "number" | "boolean" | "select" | "url" | "email" | "date" | "json" | "file"; "required"?: boolean | null | undefined; "placeholder"?: string | null | undefined; "options"?: (string)[] | null | undefined; "description"?: string | null | undefined; "default"?: unknown | undefined; "min"?: number | null | undefined; "max"?: number | null | undefined; "pattern"?: string | null | undefined; "patternMessage"?: string | null | undefined; "showIf"?: { "field": string; "equals": boolean | string } | null | undefined })[] | undefined; "longDescription"?: string | null | undefined; "tags"?: (string)[] | null | undefined; "coverImage"?: string | null | undefined; "codeSnippet"?: string | null | undefined; "codeLanguage"?: string | null | undefined; "outputSchema"?: { "type": "markdown" | "text" | "json" | "file" } | null | undefined; "pricing"?: { "model": "per-run" | "per-token" | "per-second" | "free"; "amount"?: number | null | undefined; "currency"?: "USDC" | null | undefined } | null | undefined; "sharesInputs"?: boolean | null | undefined; "promptConfig"?: { "promptTemplate"?: string | null | undefined; "systemPrompt"?: string | null | undefined; "allowedModels"?: (string)[] | null | undefined; "defaultModelId"?: string | null | undefined; "sourcePrice"?: number | null | undefined; "freeRunsPerDay"?: number | null | undefined; "examples"?: ({ "title": string; "inputs": Record<string, unknown>; "output": string; "model"?: string | null | undefined })[] | null | undefined } | null | undefined; "agentConfig"?: { "webhookUrl"?: string | null | undefined; "webhookMethod"?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined; "webhookHeaders"?: Record<string, string> | null | undefined; "timeoutSeconds"?: number | null | undefined; "maxRetries"?: number | null | undefined; "pollUrl"?: string | null | undefined; "pollIntervalMs"?: number | null | undefined; "basePrice"?: number | null | undefined; "examples"?: ({ "title": string; "inputs": Record<string, unknown>; "output": string })[] | null | undefined } | null | undefined; "toolConfig"?: { "apiEndpoint"?: string | null | undefined; "apiMethod"?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined; "apiHeaders"?: Record<string, string> | null | undefined; "authType"?: "none" | "api_key" | "bearer" | "basic" | null | undefined; "authConfig"?: { "headerName"?: string | null | undefined; "apiKey"?: string | null | undefined; "token"?: string | null | undefined; "username"?: string | null | undefined; "password"?: string | null | undefined } | null | undefined; "requestTransform"?: string | null | undefined; "responseTransform"?: string | null | undefined; "timeoutSeconds"?: number | null | undefined; "rateLimitPerMinute"?: number | null | undefined; "basePrice"?: number | null | undefined; "examples"?: ({ "title": string; "inputs": Record<string, unknown>; "output": string })[] | null | undefined } | null | undefined; "version"?: string | undefined }
    answer: { "rda": Schemas["Rda"] }
  }
  /** List the models that prompts run on, with prices per million tokens */
  "GET /v1/models": {
    query: Record<never, never>
    body: undefined
    answer: { "models": ({ "id": string; "name": string; "tier": "fast" | "balanced" | "reasoning"; "pricing": { "input": number; "output": number; "currency": "USDC"; "per": number } })[] }
  }
  /** Create an RDA, as a draft */
  "POST /v1/rda": {
    query: Record<never, never>
    body: { "slug": string; "type": "prompt" | "agent" | "tool"; "name": string; "description": string; "inputSchema": ({ "name": string; "label"?: string | null | undefined; "type": "text" | "textarea" | "number" | "boolean" | "select" | "url" | "email" | "date" | "json" | "file"; "required"?: boolean | null | undefined; "placeholder"?: string | null | undefined; "options"?: (string)[] | null | undefined; "description"?: string | null | undefined; "default"?: unknown | undefined; "min"?: number | null | undefined; "max"?: number | null | undefined; "pattern"?: string | null | undefined; "patternMessage"?: string | null | undefined; "showIf"?: { "field": string; "equals": boolean | string } | null | undefined })[]; "longDescription"?: string | null | undefined; "tags"?: (string)[] | null | undefined; "coverImage"?: string | null | undefined; "codeSnippet"?: string | null | undefined; "codeLanguage"?: string | null | undefined; "outputSchema"?: { "type": "markdown" | "text" | "json" | "file" } | null | undefined; "pricing"?: { "model": "per-run" | "per-token" | "per-second" | "free"; "amount"?: number | null | undefined; "currency"?: "USDC" | null | undefined } | null | undefined; "sharesInputs"?: boolean | null | undefined; "promptConfig"?: { "promptTemplate"?: string | null | undefined; "systemPrompt"?: string | null | undefined; "allowedModels"?: (string)[] | null | undefined; "defaultModelId"?: string | null | undefined; "sourcePrice"?: number | null | undefined; "freeRunsPerDay"?: number | null | undefined; "examples"?: ({ "title": string; "inputs": Record<string, unknown>; "output": string; "model"?: string | null | undefined })[] | null | undefined } | null | undefined; "agentConfig"?: { "webhookUrl"?: string | null | undefined; "webhookMethod"?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined; "webhookHeaders"?: Record<string, string> | null | undefined; "timeoutSeconds"?: number | null | undefined; "maxRetries"?: number | null | undefined; "pollUrl"?: string | null | undefined; "pollIntervalMs"?: number | null | undefined; "basePrice"?: number | null | undefined; "examples"?: ({ "title": string; "inputs": Record<string, unknown>; "output": string })[] | null | undefined } | null | undefined; "toolConfig"?: { "apiEndpoint"?: string | null | undefined; "apiMethod"?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined; "apiHeaders"?: Record<string, string> | null | undefined; "authType"?: "none" | "api_key" | "bearer" | "basic" | null | undefined; "authConfig"?: { "headerName"?: string | null | undefined; "apiKey"?: string | null | undefined; "token"?: string | null | undefined; "username"?: string | null | undefined; "password"?: string | null | undefined } | null | undefined; "requestTransform"?: string | null | undefined; "responseTransform"?: string | null | undefined; "timeoutSeconds"?: number | null | undefined; "rateLimitPerMinute"?: number | null | undefined; "basePrice"?: number | null | undefined; "examples"?: ({ "title": string; "inputs": Record<string, unknown>; "output": string })[] | null | undefined } | null | undefined }
    answer: { "created": boolean; "rda": { "id": string; "slug": string; "type": string; "status": string } }
  }
  /** Publish an RDA, so that everyone can find and run it */
  "POST /v1/rda/{identifier}/publish": {
    query: Record<never, never>
    body: undefined
    answer: { "rda": Schemas["Rda"] }
  }
  /** Take an RDA back to a draft */
  "POST /v1/rda/{identifier}/unpublish": {
    query: Record<never, never>
    body: undefined
    answer: { "rda": Schemas["Rda"] }
  }
  /** Archive an RDA: it is no longer listed, and only accounts that ran it can run it */
  "POST /v1/rda/{identifier}/archive": {
    query: Record<never, never>
    body: undefined
    answer: { "rda": Schemas["Rda"] }
  }
  /** Rate an RDA that you ran, once, and review it if you paid */
  "POST /v1/rda/{identifier}/rate": {
    query: Record<never, never>
    body: { "score": number; "text"?: string | null | undefined }
    answer: { "rated": boolean; "score": number; "stats": { "averageRating": number; "totalRatings": number } }
  }
  /** Buy a prompt's template; you pay its price once */
  "POST /v1/rda/{identifier}/source": {
    query: Record<never, never>
    body: { "maxCost"?: number | null | undefined }
    answer: { "source": { "rdaId": string; "version": string; "promptTemplate": string; "systemPrompt": string | null }; "cost": number }
  }
  /** List the reviews of an RDA, newest first */
  "GET /v1/rda/{identifier}/reviews": {
    query: { "limit"?: number | undefined; "before"?: string | undefined }
    body: undefined
    answer: { "reviews": ({ "id": string; "score": number; "text": string; "createdAt": string; "reply": string | null; "repliedAt": string | null })[]; "next": string | null }
  }
  /** Answer a review of your own RDA, once and for everyone to read */
  "POST /v1/rda/{identifier}/reviews/{review}/reply": {
    query: Record<never, never>
    body: { "text": string }
    answer: { "replied": true }
  }
  /** Run a published RDA without a key; a 402 response states the price, for x402 version 1 or 2. It is charged once the run has succeeded */
  "POST /v1/rda/{slug}/run": {
    query: Record<never, never>
    body: { "inputs": Record<string, unknown>; "maxCost"?: number | null | undefined }
    answer: { "success": boolean; "runId": string; "output": string; "cost": number; "duration": number; "modelId": string | null; "usage": Schemas["Usage"]; "txHash": string; "network": string; "payer": string; "paymentToken": string }
  }
  /** Run an RDA and pay for it */
  "POST /v1/run": {
    query: Record<never, never>
    body: { "rdaSlug": string; "inputs": Record<string, unknown>; "modelId"?: string | null | undefined; "maxCost"?: number | null | undefined; "webhookUrl"?: string | null | undefined; "sharesInputs"?: boolean | null | undefined; "async"?: boolean | null | undefined }
    answer: Schemas["RunResult"] | { "success": boolean; "runId": string; "status": "queued" | "running" | "succeeded" | "failed" | "canceled"; "statusUrl": string }
  }
  /** The caller's runs, newest first */
  "GET /v1/runs": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "status"?: "queued" | "running" | "succeeded" | "failed" | "canceled" | undefined; "rda"?: string | undefined }
    body: undefined
    answer: { "runs": (Schemas["RunSummary"])[]; "total": number; "limit": number; "offset": number }
  }
  /** List customers' runs of the caller's own RDA, newest first */
  "GET /v1/rda/{identifier}/runs": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "status"?: "queued" | "running" | "succeeded" | "failed" | "canceled" | undefined }
    body: undefined
    answer: { "runs": (Schemas["CustomerRun"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Get a run with its inputs and output */
  "GET /v1/runs/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "run": Schemas["Run"] }
  }
  /** Cancel a run: free until its request is sent to the asset; after that, the run continues */
  "POST /v1/runs/{id}/cancel": {
    query: Record<never, never>
    body: undefined
    answer: { "canceled": boolean; "message": string; "run": Schemas["Run"] }
  }
  /** Stream a run's states as server-sent events until the run ends */
  "GET /v1/runs/{id}/events": {
    query: Record<never, never>
    body: undefined
    answer: string
  }
  /** Your connections to providers of tools, newest first */
  "GET /v1/connections": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "connections": (Schemas["Connection"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Connect your account at a provider with its key, or with an OAuth client of your own there */
  "POST /v1/connections": {
    query: Record<never, never>
    body: Schemas["NewConnection"]
    answer: { "connection": Schemas["Connection"] }
  }
  /** Begin to connect by signing in at the provider; a person opens the address and comes back */
  "POST /v1/connections/authorize": {
    query: Record<never, never>
    body: Schemas["NewAuthorization"]
    answer: { "connection": Schemas["Connection"]; "authorizationUrl": string; "userCode": string | null; "expiresAt": string }
  }
  /** One connection */
  "GET /v1/connections/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "connection": Schemas["Connection"] }
  }
  /** Rename a connection, or make it the default */
  "PATCH /v1/connections/{id}": {
    query: Record<never, never>
    body: Schemas["ConnectionChange"]
    answer: { "connection": Schemas["Connection"] }
  }
  /** Remove a connection; what the provider issued is revoked there */
  "DELETE /v1/connections/{id}": {
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  /** Call a tool that only reads with this connection; costs nothing */
  "POST /v1/connections/{id}/test": {
    query: Record<never, never>
    body: undefined
    answer: { "ok": boolean | null; "tool": string | null; "status": number | null }
  }
  /** Your tool calls, newest first */
  "GET /v1/tool-calls": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "tool"?: string | undefined }
    body: undefined
    answer: { "calls": ({ "callId": string; "tool": string; "provider": string; "success": boolean; "cost": number; "error": string | null; "code": string | null; "duration": number; "agentId": string | null; "at": string })[]; "total": number; "limit": number; "offset": number }
  }
  /** The result of a call; asks the tool again, for nothing, where its work goes on (`Prefer: wait=60`) */
  "GET /v1/tool-calls/{callId}": {
    query: { "fields"?: string | undefined }
    body: undefined
    answer: { "success": true; "tool": string; "output": unknown; "simulated": boolean; "pages"?: { "read": number; "next": Record<string, unknown> | null } | undefined; "operation"?: { "askAt": string; "expiresAt": string } | undefined; "cost": number; "credits": number | null; "balance": number | null; "duration": number; "callId": string; "txHash"?: string | undefined; "paymentToken"?: string | undefined }
  }
  /** Create a paywall for an HTTP API */
  "POST /v1/paywalls": {
    query: Record<never, never>
    body: Schemas["NewPaywall"]
    answer: { "paywall": Schemas["Paywall"]; "secret": string | null }
  }
  /** Your paywalls in this environment, newest first */
  "GET /v1/paywalls": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "paywalls": (Schemas["Paywall"])[]; "total": number; "limit": number; "offset": number }
  }
  /** One paywall */
  "GET /v1/paywalls/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "paywall": Schemas["Paywall"] }
  }
  /** Change a paywall; quoted prices stay valid for ten minutes */
  "PATCH /v1/paywalls/{id}": {
    query: Record<never, never>
    body: Schemas["PaywallChange"]
    answer: { "paywall": Schemas["Paywall"] }
  }
  /** Delete a paywall; payments in progress are still settled */
  "DELETE /v1/paywalls/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "paywall": Schemas["Paywall"] }
  }
  /** Rotate the secret that signs the payer; it applies at once */
  "POST /v1/paywalls/{id}/rotate-secret": {
    query: Record<never, never>
    body: undefined
    answer: { "paywall": Schemas["Paywall"]; "secret": string | null }
  }
  /** Payments of a paywall, newest first */
  "GET /v1/paywalls/{id}/payments": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "payments": (Schemas["PaywallPayment"])[]; "total": number; "limit": number; "offset": number }
  }
  /** Revenue, customers, calls and refusals, by route and day */
  "GET /v1/paywalls/{id}/analytics": {
    query: { "from"?: string | undefined; "to"?: string | undefined }
    body: undefined
    answer: { "analytics": Schemas["PaywallAnalytics"] }
  }
  /** What you write on receipts and invoices */
  "GET /v1/invoicing": {
    query: Record<never, never>
    body: undefined
    answer: { "invoicing": Schemas["Invoicing"] }
  }
  /** Change what you write on receipts and invoices; issued invoices stay as they are */
  "PATCH /v1/invoicing": {
    query: Record<never, never>
    body: Schemas["InvoicingChange"]
    answer: { "invoicing": Schemas["Invoicing"] }
  }
  /** Your invoices, newest first */
  "GET /v1/invoices": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined }
    body: undefined
    answer: { "invoices": (Schemas["Invoice"])[]; "total": number; "limit": number; "offset": number }
  }
  /** The invoice of a payment, as PDF */
  "GET /v1/invoices/{payment}/pdf": {
    query: Record<never, never>
    body: undefined
    answer: string
  }
  /** Mail the receipt, or the invoice, again to the address that the buyer entered */
  "POST /v1/payments/{id}/receipt": {
    query: Record<never, never>
    body: undefined
    answer: { "email": string }
  }
  /** An answer that was too large to be sent, by the link in the call’s `output` */
  "GET /tools/answers/{id}": {
    query: { "token": string }
    body: undefined
    answer: string
  }
  /** List tools, the most used first, or search them, best match first */
  "GET /tools/": {
    query: { "limit"?: number | undefined; "offset"?: number | undefined; "search"?: string | undefined; "provider"?: string | undefined; "category"?: string | undefined; "collection"?: string | undefined; "view"?: "short" | "full" | undefined }
    body: undefined
    answer: { "tools": ({ "slug": string; "name": string; "description": string; "provider": string; "price": number; "needs": "nothing" | "platform" | "connection"; "inputs"?: (string)[] | undefined; "required"?: (string)[] | undefined; "simulated": boolean; "score"?: number | undefined; "successRate"?: number | undefined; "p50Ms"?: number | null | undefined; "warning"?: string | undefined; "category"?: string | null | undefined; "deprecated"?: boolean | undefined; "inputSchema"?: Record<string, unknown> | undefined; "outputSchema"?: Record<string, unknown> | null | undefined; "paged"?: boolean | undefined; "stats"?: { "calls": number; "successRate": number | null; "p50": number | null; "p95": number | null; "lastError": string | null; "failing": boolean } | undefined })[]; "total": number; "limit": number; "offset": number; "note"?: string | undefined; "nearest"?: ({ "slug": string; "name": string; "description": string; "provider": string; "price": number; "needs": "nothing" | "platform" | "connection"; "inputs"?: (string)[] | undefined; "required"?: (string)[] | undefined; "simulated": boolean; "score"?: number | undefined; "successRate"?: number | undefined; "p50Ms"?: number | null | undefined; "warning"?: string | undefined; "category"?: string | null | undefined; "deprecated"?: boolean | undefined; "inputSchema"?: Record<string, unknown> | undefined; "outputSchema"?: Record<string, unknown> | null | undefined; "paged"?: boolean | undefined; "stats"?: { "calls": number; "successRate": number | null; "p50": number | null; "p95": number | null; "lastError": string | null; "failing": boolean } | undefined })[] | undefined }
  }
  /** List providers of tools */
  "GET /tools/providers": {
    query: Record<never, never>
    body: undefined
    answer: { "providers": ({ "slug": string; "name": string; "description": string; "kind": "openapi" | "mcp" | "rda"; "simulated": boolean; "own": boolean; "tools": number })[] }
  }
  /** List collections of tools */
  "GET /tools/collections": {
    query: Record<never, never>
    body: undefined
    answer: { "collections": ({ "slug": string; "name": string; "description": string; "tools": number })[] }
  }
  /** Get a tool */
  "GET /tools/{slug}": {
    query: Record<never, never>
    body: undefined
    answer: { "tool": { "slug": string; "name": string; "description": string; "provider": string; "category": string | null; "price": number; "deprecated": boolean; "inputSchema": Record<string, unknown>; "outputSchema": Record<string, unknown> | null; "needs": "nothing" | "platform" | "connection"; "paged": boolean; "simulated": boolean; "stats": { "calls": number; "successRate": number | null; "p50": number | null; "p95": number | null; "lastError": string | null; "failing": boolean } } }
  }
  /** Call a tool with the inputs in the body; only a successful call is charged. Without a key a 402 response states the price, for x402 version 1 or 2 and MPP */
  "POST /tools/{slug}": {
    query: { "fields"?: string | undefined; "all"?: "true" | "false" | undefined; "maxPages"?: number | undefined; "maxCost"?: number | undefined }
    body: unknown
    answer: { "success": true; "tool": string; "output": unknown; "simulated": boolean; "pages"?: { "read": number; "next": Record<string, unknown> | null } | undefined; "operation"?: { "askAt": string; "expiresAt": string } | undefined; "cost": number; "credits": number | null; "balance": number | null; "duration": number; "callId": string; "txHash"?: string | undefined; "paymentToken"?: string | undefined }
  }
  /** Call a tool without a key, as `POST /tools/{slug}` does too: a 402 response states the price */
  "POST /tools/pay/{slug}": {
    query: { "maxCost"?: number | undefined }
    body: unknown
    answer: { "success": true; "tool": string; "output": unknown; "simulated": boolean; "cost": number; "duration": number; "callId": string; "txHash": string; "paymentToken": string }
  }
  /** Get the status of a call that was paid by x402 */
  "GET /tools/pay/{slug}/calls/{id}": {
    query: Record<never, never>
    body: undefined
    answer: { "callId": string; "tool": string; "status": "calling" | "settling" | "paid" | "failed"; "amount": number; "network": string; "reason": string | null; "txHash": string | null; "at": string }
  }
  /** Send a message by Streamable HTTP, the transport of MCP since 2025 */
  "POST /tools/mcp": {
    query: { "key"?: string | undefined; "auth"?: "oauth" | undefined; "view"?: "all" | undefined; "provider"?: string | undefined; "collection"?: string | undefined }
    body: { "jsonrpc": "2.0"; "id"?: string | number | undefined; "method": string; "params"?: Record<string, unknown> | undefined }
    answer: { "jsonrpc": "2.0"; "id": string | number; "result"?: Record<string, unknown> | undefined; "error"?: { "code": number; "message": string } | undefined }
  }
  /** Open an event stream */
  "GET /tools/mcp": {
    query: { "key"?: string | undefined; "auth"?: "oauth" | undefined; "view"?: "all" | undefined; "provider"?: string | undefined; "collection"?: string | undefined }
    body: undefined
    answer: undefined
  }
  /** End a session */
  "DELETE /tools/mcp": {
    query: Record<never, never>
    body: undefined
    answer: undefined
  }
  /** Send a message to an HTTP+SSE stream, at the address that its first event named */
  "POST /tools/mcp/messages": {
    query: { "key"?: string | undefined; "sessionId": string }
    body: { "jsonrpc": "2.0"; "id"?: string | number | undefined; "method": string; "params"?: Record<string, unknown> | undefined }
    answer: undefined
  }
}
