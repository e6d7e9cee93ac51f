"""The API's types, written from its OpenAPI document by describe-python.mjs. Do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Mapping, Protocol, TypedDict, overload

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias


class CouponTerms(TypedDict):
    code: str
    percent: NotRequired[int | None]
    amount: NotRequired[float | None]
    max: NotRequired[int | None]
    perCustomer: NotRequired[int | None]
    until: NotRequired[str | None]
    checkouts: NotRequired[list[str] | None]


class CouponChange(TypedDict):
    max: NotRequired[int | None]
    perCustomer: NotRequired[int | None]
    until: NotRequired[str | None]
    checkouts: NotRequired[list[str] | None]


class CheckoutTermsProduct(TypedDict):
    name: str
    description: NotRequired[str | None]


class CheckoutTermsFieldsItemShowIf(TypedDict):
    field: str
    equals: bool | str


class CheckoutTermsFieldsItem(TypedDict):
    name: str
    label: NotRequired[str | None]
    type: Literal["text", "textarea", "number", "boolean", "select", "url", "email", "date", "json", "file"]
    required: NotRequired[bool | None]
    placeholder: NotRequired[str | None]
    options: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    default: NotRequired[Any]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    pattern: NotRequired[str | None]
    patternMessage: NotRequired[str | None]
    showIf: NotRequired[CheckoutTermsFieldsItemShowIf | None]


class CheckoutTermsPlansItem(TypedDict):
    id: str
    name: str
    price: float
    kind: Literal["runs"]
    runs: int


class CheckoutTermsPlansItem2(TypedDict):
    id: str
    name: str
    price: float
    kind: Literal["period"]
    days: int
    runs: NotRequired[int | None]


class CheckoutTermsChat(TypedDict):
    greeting: NotRequired[str | None]


class CheckoutTermsNotify(TypedDict):
    sale: bool
    failure: bool


class CheckoutTermsSource(TypedDict):
    instanceId: str
    workflowId: str
    nodeId: str


class CheckoutTerms(TypedDict):
    callbackUrl: NotRequired[str | None]
    after: NotRequired[CheckoutAfter | None]
    picture: NotRequired[str | None]
    product: CheckoutTermsProduct
    price: NotRequired[float]
    pricing: NotRequired[CheckoutPricing | None]
    coupons: NotRequired[bool | None]
    network: Literal["base", "base-sepolia"]
    recipient: NotRequired[str | None]
    fields: NotRequired[list[CheckoutTermsFieldsItem] | None]
    redirectUrl: NotRequired[str | None]
    testMode: NotRequired[bool | None]
    lifetime: NotRequired[Literal["temporary", "persistent"] | None]
    responseMode: NotRequired[Literal["immediately", "lastNode"] | None]
    preflight: NotRequired[bool | None]
    onUnconfirmed: NotRequired[Literal["hold", "redeliver"] | None]
    onError: NotRequired[Literal["retry", "fail"] | None]
    capture: NotRequired[Literal["onPayment", "onSuccess", "escrow"] | None]
    runSeconds: NotRequired[int | None]
    refundOnFailure: NotRequired[bool | None]
    embedOrigins: NotRequired[list[str] | None]
    trialRuns: NotRequired[int | None]
    trialsPerDay: NotRequired[int | None]
    plans: NotRequired[list[CheckoutTermsPlansItem | CheckoutTermsPlansItem2] | None]
    chat: NotRequired[CheckoutTermsChat | None]
    notify: NotRequired[CheckoutTermsNotify | None]
    source: NotRequired[CheckoutTermsSource | None]


class CheckoutAfterKind(TypedDict):
    kind: Literal["webhook"]


class CheckoutAfterKind2(TypedDict):
    kind: Literal["text"]
    text: str


class CheckoutAfterKind3(TypedDict):
    kind: Literal["link"]
    url: str


class CheckoutAfterKind4(TypedDict):
    kind: Literal["file"]
    fileId: str


CheckoutAfter: TypeAlias = "CheckoutAfterKind | CheckoutAfterKind2 | CheckoutAfterKind3 | CheckoutAfterKind4"


class CheckoutPricingKind(TypedDict):
    kind: Literal["fixed"]


class CheckoutPricingKind2(TypedDict):
    kind: Literal["quantity"]
    min: NotRequired[int | None]
    max: int


class CheckoutPricingKind3(TypedDict):
    kind: Literal["choose"]
    min: float
    max: NotRequired[float | None]
    suggested: NotRequired[float | None]


class CheckoutPricingKind4(TypedDict):
    kind: Literal["byField"]
    field: str
    prices: dict[str, float]


CheckoutPricing: TypeAlias = "CheckoutPricingKind | CheckoutPricingKind2 | CheckoutPricingKind3 | CheckoutPricingKind4"


class CheckoutChangeProduct(TypedDict):
    name: str
    description: NotRequired[str | None]


class CheckoutChangeFieldsItemShowIf(TypedDict):
    field: str
    equals: bool | str


class CheckoutChangeFieldsItem(TypedDict):
    name: str
    label: NotRequired[str | None]
    type: Literal["text", "textarea", "number", "boolean", "select", "url", "email", "date", "json", "file"]
    required: NotRequired[bool | None]
    placeholder: NotRequired[str | None]
    options: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    default: NotRequired[Any]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    pattern: NotRequired[str | None]
    patternMessage: NotRequired[str | None]
    showIf: NotRequired[CheckoutChangeFieldsItemShowIf | None]


class CheckoutChangePlansItem(TypedDict):
    id: str
    name: str
    price: float
    kind: Literal["runs"]
    runs: int


class CheckoutChangePlansItem2(TypedDict):
    id: str
    name: str
    price: float
    kind: Literal["period"]
    days: int
    runs: NotRequired[int | None]


class CheckoutChangeChat(TypedDict):
    greeting: NotRequired[str | None]


class CheckoutChangeNotify(TypedDict):
    sale: bool
    failure: bool


class CheckoutChange(TypedDict):
    callbackUrl: NotRequired[str | None]
    after: NotRequired[CheckoutAfter | None]
    picture: NotRequired[str | None]
    product: NotRequired[CheckoutChangeProduct]
    price: NotRequired[float]
    pricing: NotRequired[CheckoutPricing | None]
    coupons: NotRequired[bool | None]
    network: NotRequired[Literal["base", "base-sepolia"]]
    recipient: NotRequired[str | None]
    fields: NotRequired[list[CheckoutChangeFieldsItem] | None]
    redirectUrl: NotRequired[str | None]
    testMode: NotRequired[bool | None]
    responseMode: NotRequired[Literal["immediately", "lastNode"] | None]
    preflight: NotRequired[bool | None]
    onUnconfirmed: NotRequired[Literal["hold", "redeliver"] | None]
    onError: NotRequired[Literal["retry", "fail"] | None]
    capture: NotRequired[Literal["onPayment", "onSuccess", "escrow"] | None]
    runSeconds: NotRequired[int | None]
    refundOnFailure: NotRequired[bool | None]
    embedOrigins: NotRequired[list[str] | None]
    trialRuns: NotRequired[int | None]
    trialsPerDay: NotRequired[int | None]
    plans: NotRequired[list[CheckoutChangePlansItem | CheckoutChangePlansItem2] | None]
    chat: NotRequired[CheckoutChangeChat | None]
    notify: NotRequired[CheckoutChangeNotify | None]
    version: NotRequired[int]


class NewConnectionClient(TypedDict):
    id: str
    secret: str
    authentication: NotRequired[Literal["basic", "post"]]
    scopes: NotRequired[list[str]]


class NewConnection(TypedDict):
    provider: str
    name: NotRequired[str | None]
    agentId: NotRequired[str | None]
    connectionId: NotRequired[str | None]
    default: NotRequired[bool]
    secret: NotRequired[str | None]
    secrets: NotRequired[dict[str, str]]
    client: NotRequired[NewConnectionClient | None]


class NewAuthorization(TypedDict):
    provider: str
    name: NotRequired[str | None]
    agentId: NotRequired[str | None]
    scopes: NotRequired[list[str]]
    connectionId: NotRequired[str | None]
    byCode: NotRequired[bool]


class ConnectionChange(TypedDict):
    name: NotRequired[str]
    default: NotRequired[bool]


class NewPaywallRoutesItemPricing(TypedDict):
    model: Literal["free"]


class NewPaywallRoutesItemPricing2(TypedDict):
    model: Literal["per-request"]
    amount: float


class NewPaywallRoutesItemPricing3TiersItem(TypedDict):
    upTo: NotRequired[int | None]
    amount: float


class NewPaywallRoutesItemPricing3(TypedDict):
    model: Literal["tiered"]
    tiers: list[NewPaywallRoutesItemPricing3TiersItem]
    window: Literal["day", "week", "month", "lifetime"]


class NewPaywallRoutesItemPricing4(TypedDict):
    model: Literal["per-token"]
    input: float
    output: float
    minimum: float
    maximum: float


class NewPaywallRoutesItemPricing5(TypedDict):
    model: Literal["per-minute"]
    amount: float
    minimum: float
    maximum: float


class NewPaywallRoutesItemSignIn(TypedDict):
    seconds: int


class NewPaywallRoutesItem(TypedDict):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "*"]
    path: str
    pricing: NewPaywallRoutesItemPricing | NewPaywallRoutesItemPricing2 | NewPaywallRoutesItemPricing3 | NewPaywallRoutesItemPricing4 | NewPaywallRoutesItemPricing5
    description: NotRequired[str | None]
    settle: NotRequired[Literal["after", "before"] | None]
    paymentIdentifier: NotRequired[Literal["optional", "required"] | None]
    signIn: NotRequired[NewPaywallRoutesItemSignIn | None]


class NewPaywall(TypedDict):
    slug: str
    name: str
    upstreamUrl: str
    routes: list[NewPaywallRoutesItem]
    network: Literal["base", "base-sepolia"]
    recipient: NotRequired[str | None]
    testMode: NotRequired[bool | None]
    status: NotRequired[Literal["active", "paused"] | None]
    upstreamHeaders: NotRequired[dict[str, str] | None]
    milestones: NotRequired[list[float] | None]


class PaywallChangeRoutesItemPricing(TypedDict):
    model: Literal["free"]


class PaywallChangeRoutesItemPricing2(TypedDict):
    model: Literal["per-request"]
    amount: float


class PaywallChangeRoutesItemPricing3TiersItem(TypedDict):
    upTo: NotRequired[int | None]
    amount: float


class PaywallChangeRoutesItemPricing3(TypedDict):
    model: Literal["tiered"]
    tiers: list[PaywallChangeRoutesItemPricing3TiersItem]
    window: Literal["day", "week", "month", "lifetime"]


class PaywallChangeRoutesItemPricing4(TypedDict):
    model: Literal["per-token"]
    input: float
    output: float
    minimum: float
    maximum: float


class PaywallChangeRoutesItemPricing5(TypedDict):
    model: Literal["per-minute"]
    amount: float
    minimum: float
    maximum: float


class PaywallChangeRoutesItemSignIn(TypedDict):
    seconds: int


class PaywallChangeRoutesItem(TypedDict):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "*"]
    path: str
    pricing: PaywallChangeRoutesItemPricing | PaywallChangeRoutesItemPricing2 | PaywallChangeRoutesItemPricing3 | PaywallChangeRoutesItemPricing4 | PaywallChangeRoutesItemPricing5
    description: NotRequired[str | None]
    settle: NotRequired[Literal["after", "before"] | None]
    paymentIdentifier: NotRequired[Literal["optional", "required"] | None]
    signIn: NotRequired[PaywallChangeRoutesItemSignIn | None]


class PaywallChange(TypedDict):
    slug: NotRequired[str]
    name: NotRequired[str]
    upstreamUrl: NotRequired[str]
    routes: NotRequired[list[PaywallChangeRoutesItem]]
    recipient: NotRequired[str | None]
    network: NotRequired[Literal["base", "base-sepolia"]]
    testMode: NotRequired[bool]
    status: NotRequired[Literal["active", "paused"]]
    upstreamHeaders: NotRequired[dict[str, str]]
    milestones: NotRequired[list[float]]
    version: NotRequired[int]


class InvoicingChange(TypedDict):
    enabled: NotRequired[bool]
    sellerName: NotRequired[str | Literal[""]]
    sellerAddress: NotRequired[str | Literal[""]]
    sellerTaxId: NotRequired[str | Literal[""]]
    taxLabel: NotRequired[str]
    taxPercent: NotRequired[float]
    prefix: NotRequired[str]
    note: NotRequired[str | Literal[""]]


class CheckoutChoice(TypedDict):
    quantity: NotRequired[int]
    amount: NotRequired[float]
    coupon: NotRequired[str]
    plan: NotRequired[str]


class Error(TypedDict):
    error: str
    code: str
    requestId: str
    details: NotRequired[dict[str, str]]


class ApiKey(TypedDict):
    id: str
    name: str
    prefix: str
    lastFour: str
    environment: Literal["sandbox", "production"]
    agentId: str | None
    expiresAt: str | None
    lastUsedAt: str | None
    createdAt: str


class WebhookEndpoint(TypedDict):
    id: str
    url: str
    events: list[Literal["payment.completed", "payment.failed", "payment.refunded", "refund.failed", "dispute.opened", "dispute.closed", "customer.first_payment", "revenue.milestone", "pricing.tier_changed", "run.completed", "run.failed", "checkout.paused", "pass.created", "pass.ending", "pass.ended", "agent.spending.warning", "agent.spending.exceeded", "agent.paused", "connection.expired", "wallet.low_balance", "delivery.unconfirmed", "delivery.stopped", "delivery.exhausted", "endpoint.disabled"]]
    status: Literal["enabled", "disabled"]
    failingSince: str | None
    disabledAt: str | None
    createdAt: str


class Delivery(TypedDict):
    id: str
    subject: str
    target: str | None
    url: str
    status: Literal["pending", "claimed", "delivered", "unconfirmed", "stopped", "exhausted"]
    attemptCount: int
    lastStatus: int | None
    lastError: str | None
    lastAttemptAt: str | None
    nextAttemptAt: str | None
    claimedAt: str | None
    deliveredAt: str | None
    createdAt: str


class DeliveryDetailAttemptsItem(TypedDict):
    at: str
    durationMs: int
    status: int | None
    error: str | None
    answer: str | None


class DeliveryDetail(TypedDict):
    id: str
    subject: str
    target: str | None
    url: str
    status: Literal["pending", "claimed", "delivered", "unconfirmed", "stopped", "exhausted"]
    attemptCount: int
    lastStatus: int | None
    lastError: str | None
    lastAttemptAt: str | None
    nextAttemptAt: str | None
    claimedAt: str | None
    deliveredAt: str | None
    createdAt: str
    body: str
    attempts: list[DeliveryDetailAttemptsItem]


class AgentLimits(TypedDict):
    perCall: float | None
    perMinute: float | None
    perDay: float | None
    perWeek: float | None
    perMonth: float | None
    lifetime: float | None


class AgentRate(TypedDict):
    callsPerMinute: int | None


class AgentTools(TypedDict):
    allow: list[str] | None
    deny: list[str]


class AgentRdas(TypedDict):
    allow: list[str] | None
    deny: list[str]


class AgentDomains(TypedDict):
    allow: list[str] | None
    deny: list[str]


class AgentAlertsItem(TypedDict):
    at: float
    limit: Literal["perMinute", "perDay", "perWeek", "perMonth", "lifetime"] | None


class Agent(TypedDict):
    id: str
    name: str
    status: Literal["active", "paused"]
    environment: Literal["sandbox", "production"]
    limits: AgentLimits
    rate: AgentRate
    tools: AgentTools
    rdas: AgentRdas
    domains: AgentDomains
    approvalAbove: float | None
    alerts: list[AgentAlertsItem]
    onExceeded: Literal["refuse", "pause"]
    defaultPerDay: float | None
    warnings: list[str]
    createdAt: str
    updatedAt: str


class SpendingDecision(TypedDict):
    id: str
    at: str
    kind: Literal["run", "tool", "pay"]
    target: str
    domain: str | None
    amount: float
    returned: float
    outcome: Literal["allowed", "refused", "held"]
    rule: str | None
    pattern: str | None
    reference: str | None
    approvalId: str | None


class Approval(TypedDict):
    id: str
    status: Literal["pending", "approved", "refused", "lapsed", "used"]
    agentId: str
    agentName: str
    kind: Literal["run", "tool", "pay"]
    target: str
    amount: float
    requestHash: str
    createdAt: str
    expiresAt: str
    decidedAt: str | None
    reference: str | None


class PaidCall(TypedDict):
    id: str
    status: Literal["pending", "settled", "returned"]
    confirmed: bool
    amount: float
    currency: Literal["USDC"]
    maxAmount: float
    network: str
    payer: str
    recipient: str
    txHash: str | None
    url: str
    method: str
    agentId: str | None
    responseStatus: int | None
    protocol: Literal["x402", "mpp"]
    receipt: dict[str, Any] | None
    reason: str | None
    expiresAt: str
    createdAt: str
    endedAt: str | None


class PaymentReason(TypedDict):
    code: str
    sentence: str


class Payment(TypedDict):
    id: str
    product: Literal["tool", "checkout", "gate", "asset"]
    subject: str
    name: str | None
    state: Literal["created", "settling", "paid", "refunded", "released", "failed"]
    amount: float
    refunded: float
    refundable: float
    currency: Literal["USDC"]
    network: str
    payer: str
    recipient: str | None
    txHash: str | None
    explorerUrl: str | None
    reason: PaymentReason | None
    test: bool
    createdAt: str
    paidAt: str | None


class PaymentWithRefundsReason(TypedDict):
    code: str
    sentence: str


class PaymentWithRefunds(TypedDict):
    id: str
    product: Literal["tool", "checkout", "gate", "asset"]
    subject: str
    name: str | None
    state: Literal["created", "settling", "paid", "refunded", "released", "failed"]
    amount: float
    refunded: float
    refundable: float
    currency: Literal["USDC"]
    network: str
    payer: str
    recipient: str | None
    txHash: str | None
    explorerUrl: str | None
    reason: PaymentWithRefundsReason | None
    test: bool
    createdAt: str
    paidAt: str | None
    refunds: list[Refund]


class RefundWaitsFor(TypedDict):
    code: Literal["insufficient_balance", "withdrawal_limit", "quota_exceeded", "payouts_paused"]
    sentence: str
    missing: float | None


class RefundFailure(TypedDict):
    code: str
    sentence: str


Refund = TypedDict("Refund", {
    "id": "str",
    "paymentId": "str",
    "state": "Literal['requested', 'funded', 'sent', 'confirmed', 'failed']",
    "amount": "float",
    "currency": "Literal['USDC']",
    "network": "str",
    "to": "str",
    "from": "Literal['wallet', 'account', 'simulated', 'own']",
    "reason": "str | None",
    "requestedBy": "Literal['seller', 'rule', 'dispute', 'agent']",
    "waitsFor": "RefundWaitsFor | None",
    "failure": "RefundFailure | None",
    "txHash": "str | None",
    "explorerUrl": "str | None",
    "test": "bool",
    "createdAt": "str",
    "expiresAt": "str | None",
    "toSign": "TransferTypedData | None",
    "fundedAt": "str | None",
    "sentAt": "str | None",
    "endedAt": "str | None",
})


class TransferTypedDataDomain(TypedDict):
    name: str
    version: str
    chainId: int
    verifyingContract: str


class TransferTypedDataTypesEIP712DomainItem(TypedDict):
    name: str
    type: str


class TransferTypedDataTypesTransferWithAuthorizationItem(TypedDict):
    name: str
    type: str


class TransferTypedDataTypes(TypedDict):
    EIP712Domain: list[TransferTypedDataTypesEIP712DomainItem]
    TransferWithAuthorization: list[TransferTypedDataTypesTransferWithAuthorizationItem]


TransferTypedDataMessage = TypedDict("TransferTypedDataMessage", {
    "from": "str",
    "to": "str",
    "value": "str",
    "validAfter": "str",
    "validBefore": "str",
    "nonce": "str",
})


class TransferTypedData(TypedDict):
    domain: TransferTypedDataDomain
    types: TransferTypedDataTypes
    primaryType: Literal["TransferWithAuthorization"]
    message: TransferTypedDataMessage


class DisputePayment(TypedDict):
    id: str
    product: Literal["tool", "checkout", "gate", "asset"]
    subject: str
    amount: float
    refundable: float
    payer: str
    network: str
    test: bool


class Dispute(TypedDict):
    id: str
    state: Literal["open", "refunding", "refunded", "declined", "closed"]
    reason: Literal["service_not_delivered", "service_defective", "duplicate_payment", "overcharge", "customer_request", "other"]
    text: str | None
    answer: str | None
    answerBy: str
    refundId: str | None
    createdAt: str
    endedAt: str | None
    openedBy: Literal["buyer", "agent"]
    amount: float
    unanswered: Literal["refund", "close"]
    decidedBy: Literal["seller", "deadline", "policy"] | None
    refundFailure: str | None
    payment: DisputePayment


class RefundPolicy(TypedDict):
    windowDays: int
    answerDays: int
    unanswered: Literal["refund", "close"]
    partialRefunds: bool
    agents: Literal["automatic", "asked"]
    automaticPerSale: float
    automaticPerDay: float


class PassPlan(TypedDict):
    id: str
    name: str


class Pass(TypedDict):
    id: str
    checkoutId: str
    plan: PassPlan
    holder: str
    testMode: bool
    status: Literal["active", "used_up", "ended"]
    runs: int | None
    runsLeft: int | None
    until: str | None
    endedAt: str | None
    endReason: Literal["owner", "time", "refunded"] | None
    createdAt: str


class Wallet(TypedDict):
    userId: str
    walletAddress: str | None
    balance: float
    availableBalance: float
    pendingLocks: dict[str, float]
    totalLocked: float
    totalDeposited: float
    totalSpent: float


class Transaction(TypedDict):
    id: str
    type: Literal["deposit", "sale", "charge", "earning", "withdrawal", "refund"]
    amount: float
    balanceAfter: float
    reference: str | None
    createdAt: str


class Withdrawal(TypedDict):
    id: str
    status: Literal["pending", "submitted", "confirmed", "failed"]
    amount: float
    to: str
    network: str
    txHash: str | None
    reason: Literal["treasury_short", "expired", "canceled"] | None
    createdAt: str
    submittedAt: str | None
    endedAt: str | None


class File(TypedDict):
    id: str
    name: str
    purpose: Literal["sale", "picture", "answer", "input"]
    mediaType: str
    bytes: int
    sha256: str
    width: int | None
    height: int | None
    url: str | None
    keptUntil: str | None
    createdAt: str


class Coupon(TypedDict):
    id: str
    code: str
    percent: int | None
    amount: float | None
    max: int | None
    perCustomer: int | None
    until: str | None
    checkouts: list[str] | None
    used: int
    tested: int
    archivedAt: str | None
    createdAt: str
    updatedAt: str


class CheckoutAfter_(TypedDict):
    kind: Literal["webhook"]


class CheckoutAfter2(TypedDict):
    kind: Literal["text"]
    text: str


class CheckoutAfter3(TypedDict):
    kind: Literal["link"]
    url: str


class CheckoutAfter4(TypedDict):
    kind: Literal["file"]
    fileId: str
    name: str
    mediaType: str
    bytes: int


class CheckoutPicture(TypedDict):
    fileId: str
    width: int
    height: int


class CheckoutProduct(TypedDict):
    name: str
    description: str | None


class CheckoutPricing_(TypedDict):
    kind: Literal["fixed"]


class CheckoutPricing2(TypedDict):
    kind: Literal["quantity"]
    min: int
    max: int


class CheckoutPricing3(TypedDict):
    kind: Literal["choose"]
    min: float
    max: float | None
    suggested: float | None


class CheckoutPricing4(TypedDict):
    kind: Literal["byField"]
    field: str
    prices: dict[str, float]


class CheckoutPlansItem(TypedDict):
    id: str
    name: str
    price: float
    kind: Literal["runs", "period"]
    runs: int | None
    days: NotRequired[int]


class CheckoutChat(TypedDict):
    greeting: str | None


class CheckoutNotify(TypedDict):
    sale: bool
    failure: bool


class CheckoutSource(TypedDict):
    instanceId: str
    workflowId: str
    nodeId: str


class Checkout(TypedDict):
    id: str
    url: str
    x402Url: str
    mcpUrl: str
    status: Literal["active", "paused", "expired"]
    lifetime: Literal["temporary", "persistent"]
    expiresAt: str | None
    callbackUrl: str | None
    after: CheckoutAfter_ | CheckoutAfter2 | CheckoutAfter3 | CheckoutAfter4
    picture: CheckoutPicture | None
    product: CheckoutProduct
    price: float
    pricing: CheckoutPricing_ | CheckoutPricing2 | CheckoutPricing3 | CheckoutPricing4
    coupons: bool
    currency: Literal["USDC"]
    network: Literal["base", "base-sepolia"]
    recipient: str | None
    fields: list[Field]
    redirectUrl: str | None
    testMode: bool
    responseMode: Literal["immediately", "lastNode"]
    preflight: bool
    onUnconfirmed: Literal["hold", "redeliver"]
    onError: Literal["retry", "fail"]
    capture: Literal["onPayment", "onSuccess", "escrow"]
    runSeconds: int
    refundOnFailure: bool
    embedOrigins: list[str]
    trialRuns: int
    trialsPerDay: int
    plans: list[CheckoutPlansItem]
    chat: CheckoutChat | None
    notify: CheckoutNotify
    source: CheckoutSource | None
    version: int
    pausedAt: str | None
    expiredAt: str | None
    createdAt: str
    updatedAt: str


class FieldShowIf(TypedDict):
    field: str
    equals: bool | str


class Field(TypedDict):
    name: str
    label: str
    type: Literal["text", "textarea", "number", "boolean", "select", "url", "email", "date", "json", "file"]
    required: bool
    placeholder: str | None
    options: list[str] | None
    description: str | None
    default: Any
    min: float | None
    max: float | None
    pattern: str | None
    patternMessage: NotRequired[str | None]
    showIf: NotRequired[FieldShowIf]


class CheckoutLines(TypedDict):
    unit: float
    quantity: int
    subtotal: float
    coupon: str | None
    discount: float
    total: float


class CheckoutPaymentPaymentRefundsItem(TypedDict):
    id: str
    state: Literal["requested", "funded", "sent", "confirmed", "failed"]
    amount: float
    txHash: str | None
    explorerUrl: str | None


class CheckoutPaymentPaymentCollect(TypedDict):
    addressId: str
    token: str


class CheckoutPaymentPaymentReason(TypedDict):
    code: str
    sentence: str


class CheckoutPaymentPaymentEscrow(TypedDict):
    contract: str
    captureBy: str
    state: Literal["authorizing", "waiting", "capturing", "captured", "voiding", "voided", "reclaimable", "none"]
    authorizedTx: str | None
    voidedTx: str | None


class CheckoutPaymentPaymentPassPlan(TypedDict):
    id: str
    name: str


class CheckoutPaymentPaymentPass(TypedDict):
    id: str
    plan: CheckoutPaymentPaymentPassPlan
    status: Literal["active", "used_up", "ended"]
    runs: int | None
    runsLeft: int | None
    until: str | None
    token: str | None


CheckoutPaymentPayment = TypedDict("CheckoutPaymentPayment", {
    "id": "str",
    "checkoutId": "str",
    "status": "Literal['created', 'settling', 'paid', 'failed']",
    "txHash": "str | None",
    "amount": "float",
    "lines": "CheckoutLines",
    "refunded": "float",
    "refunds": "list[CheckoutPaymentPaymentRefundsItem]",
    "collect": "CheckoutPaymentPaymentCollect | None",
    "currency": "Literal['USDC']",
    "network": "Literal['base', 'base-sepolia']",
    "payer": "str",
    "explorerUrl": "str | None",
    "reason": "CheckoutPaymentPaymentReason | None",
    "statusUrl": "str",
    "testMode": "bool",
    "capture": "Literal['onPayment', 'onSuccess', 'escrow']",
    "deadline": "str | None",
    "escrow": "CheckoutPaymentPaymentEscrow | None",
    "free": "Literal['pass', 'trial', 'coupon'] | None",
    "pass": "CheckoutPaymentPaymentPass | None",
    "createdAt": "str",
    "paidAt": "str | None",
    "redirectUrl": "str | None",
    "token": "str | None",
    "receiptUrl": "str | None",
    "signedReceipt": "str | None",
    "verifyUrl": "str | None",
})


class CheckoutPaymentResult(TypedDict):
    kind: Literal["text"]
    text: str


class CheckoutPaymentResult2(TypedDict):
    kind: Literal["link"]
    url: str


class CheckoutPaymentResult3(TypedDict):
    kind: Literal["file"]
    name: str
    mediaType: str
    bytes: int
    url: str | None


class CheckoutPaymentRequestsItem(TypedDict):
    id: str
    status: Literal["open", "paying", "paid", "refused", "expired"]
    amount: float
    currency: Literal["USDC"]
    note: str
    url: str
    paymentId: str | None
    expiresAt: str


class CheckoutPaymentDeliveryHistoryItem(TypedDict):
    at: str
    status: int | None
    error: str | None


class CheckoutPaymentDeliveryProgressItem(TypedDict):
    text: str
    percent: int | None
    at: str


class CheckoutPaymentDelivery(TypedDict):
    id: str
    status: str
    attempts: int
    lastStatus: int | None
    lastError: str | None
    nextAttemptAt: str | None
    history: list[CheckoutPaymentDeliveryHistoryItem] | None
    answer: str | None
    failure: str | None
    progress: list[CheckoutPaymentDeliveryProgressItem]


class CheckoutPayment(TypedDict):
    payment: CheckoutPaymentPayment
    result: CheckoutPaymentResult | CheckoutPaymentResult2 | CheckoutPaymentResult3 | None
    requests: list[CheckoutPaymentRequestsItem]
    delivery: CheckoutPaymentDelivery | None


class PaymentRequest(TypedDict):
    id: str
    status: Literal["open", "paying", "paid", "refused", "expired"]
    amount: float
    currency: Literal["USDC"]
    note: str
    url: str
    paymentId: str | None
    expiresAt: str
    of: str
    checkoutId: str
    callbackUrl: str | None
    createdAt: str
    endedAt: str | None


class ReducedRdaPricing(TypedDict):
    model: Literal["per-run", "per-token", "per-second", "free"]
    amount: float
    currency: Literal["USDC"]


class ReducedRdaStats(TypedDict):
    totalRuns: int
    averageRating: float
    successRate: float


class ReducedRda(TypedDict):
    id: str
    slug: str
    name: str
    description: str
    type: Literal["prompt", "agent", "tool"]
    status: Literal["draft", "published", "archived"]
    verified: bool
    featured: bool
    trending: bool
    coverImage: str | None
    ownerId: str
    ownerName: str | None
    createdAt: str
    updatedAt: str
    pricing: ReducedRdaPricing
    stats: ReducedRdaStats


class RdaSchemaOutputs(TypedDict):
    type: Literal["markdown", "text", "json", "file"]


class RdaSchema(TypedDict):
    inputs: list[Field]
    outputs: RdaSchemaOutputs


class RdaPromptConfigAllowedModelsItem(TypedDict):
    id: str
    name: str
    tier: str


class RdaPromptConfigExamplesItem(TypedDict):
    id: str
    title: str
    inputs: dict[str, Any]
    output: str
    model: str | None


class RdaPromptConfig(TypedDict):
    promptTemplate: str | None
    systemPrompt: str | None
    allowedModels: list[RdaPromptConfigAllowedModelsItem]
    defaultModelId: str
    sourcePrice: float | None
    freeRunsPerDay: int | None
    examples: list[RdaPromptConfigExamplesItem]


class RdaAgentConfigExamplesItem(TypedDict):
    id: str
    title: str
    inputs: dict[str, Any]
    output: str


class RdaAgentConfig(TypedDict):
    webhookUrl: str | None
    webhookMethod: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None
    webhookHeaders: dict[str, str] | None
    timeoutSeconds: int
    maxRetries: int
    pollUrl: str | None
    pollIntervalMs: int
    basePrice: float | None
    examples: list[RdaAgentConfigExamplesItem]


class RdaToolConfigExamplesItem(TypedDict):
    id: str
    title: str
    inputs: dict[str, Any]
    output: str


class RdaToolConfig(TypedDict):
    apiEndpoint: str | None
    apiMethod: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None
    apiHeaders: dict[str, str] | None
    authType: Literal["none", "api_key", "bearer", "basic"] | None
    authConfig: dict[str, str] | None
    requestTransform: str | None
    responseTransform: str | None
    timeoutSeconds: int
    rateLimitPerMinute: int | None
    basePrice: float | None
    examples: list[RdaToolConfigExamplesItem]


class RdaPricing(TypedDict):
    model: Literal["per-run", "per-token", "per-second", "free"]
    amount: float
    currency: Literal["USDC"]
    estimatedCost: str
    maxCost: float


class RdaStats(TypedDict):
    totalRuns: int
    averageRating: float
    successRate: float
    totalRevenue: float
    totalRatings: int
    averageLatency: float


class Rda(TypedDict):
    id: str
    slug: str
    name: str
    description: str
    type: Literal["prompt", "agent", "tool"]
    status: Literal["draft", "published", "archived"]
    verified: bool
    featured: bool
    trending: bool
    coverImage: str | None
    ownerId: str
    ownerName: str | None
    createdAt: str
    updatedAt: str
    longDescription: str | None
    tags: list[str]
    codeSnippet: str | None
    codeLanguage: str | None
    version: str
    sharesInputs: bool
    schema: RdaSchema
    promptConfig: RdaPromptConfig | None
    agentConfig: RdaAgentConfig | None
    toolConfig: RdaToolConfig | None
    pricing: RdaPricing
    stats: RdaStats
    ownerVerified: bool
    publishedAt: str | None


class UsageKind(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


Usage: TypeAlias = "UsageKind | None"


class PaymentRequired(TypedDict):
    error: str
    code: str
    x402Version: Literal[1]
    accepts: list[dict[str, Any]]
    amount: str
    currency: Literal["USDC"]
    recipient: str
    reason: str | None


class RunResult(TypedDict):
    success: bool
    runId: str
    output: str
    cost: float
    duration: float
    modelId: str | None
    usage: Usage


class RunSummary(TypedDict):
    id: str
    rdaId: str
    rdaSlug: str
    rdaType: Literal["prompt", "agent", "tool"]
    rdaVersion: str
    agentId: str | None
    status: Literal["queued", "running", "succeeded", "failed", "canceled"]
    maxCost: float
    cost: float
    duration: float | None
    modelId: str | None
    usage: Usage
    error: str | None
    code: str | None
    createdAt: str
    startedAt: str | None
    endedAt: str | None


class CustomerRun(TypedDict):
    id: str
    rdaId: str
    rdaSlug: str
    rdaVersion: str
    status: Literal["queued", "running", "succeeded", "failed", "canceled"]
    cost: float
    duration: float | None
    modelId: str | None
    usage: Usage
    error: str | None
    code: str | None
    createdAt: str
    startedAt: str | None
    endedAt: str | None
    inputsShared: bool
    inputs: dict[str, Any] | None


class RunTimelineItem(TypedDict):
    status: Literal["queued", "running", "succeeded", "failed", "canceled"]
    at: str


class Run(TypedDict):
    id: str
    rdaId: str
    rdaSlug: str
    rdaType: Literal["prompt", "agent", "tool"]
    rdaVersion: str
    agentId: str | None
    status: Literal["queued", "running", "succeeded", "failed", "canceled"]
    maxCost: float
    cost: float
    duration: float | None
    modelId: str | None
    usage: Usage
    error: str | None
    code: str | None
    createdAt: str
    startedAt: str | None
    endedAt: str | None
    inputs: dict[str, Any]
    output: str | None
    webhookUrl: str | None
    timeline: list[RunTimelineItem]


class Connection(TypedDict):
    id: str
    provider: str
    name: str
    default: bool
    agentId: str | None
    kind: Literal["key", "oauth", "client"]
    state: Literal["pending", "active", "refreshing", "expired", "revoked"]
    hosts: list[str]
    scopes: list[str]
    failure: str | None
    expiresAt: str | None
    lastUsedAt: str | None
    createdAt: str
    updatedAt: str


class PaywallRoutesItemPricing(TypedDict):
    model: Literal["free", "per-request", "tiered", "per-token", "per-minute"]


class PaywallRoutesItemSignIn(TypedDict):
    seconds: int


class PaywallRoutesItem(TypedDict):
    method: str
    path: str
    pricing: PaywallRoutesItemPricing
    description: str | None
    settle: Literal["after", "before"]
    paymentIdentifier: Literal["optional", "required"]
    signIn: PaywallRoutesItemSignIn | None


class Paywall(TypedDict):
    id: str
    slug: str
    url: str
    name: str
    upstreamUrl: str
    upstreamHeaders: list[str]
    routes: list[PaywallRoutesItem]
    recipient: str | None
    network: Literal["base", "base-sepolia"]
    testMode: bool
    testToken: str | None
    status: Literal["active", "paused"]
    milestones: list[float]
    version: int
    createdAt: str
    updatedAt: str


class PaywallPayment(TypedDict):
    id: str
    status: Literal["calling", "released", "settling", "paid", "failed"]
    kind: Literal["request", "balance"]
    route: str
    endpoint: str
    amount: float
    refunded: float
    currency: Literal["USDC"]
    network: Literal["base", "base-sepolia"]
    payer: str
    txHash: str | None
    reason: str | None
    delivered: bool
    testMode: bool
    createdAt: str
    endedAt: str | None
    signedReceipt: str | None
    verifyUrl: str | None


class PaywallAnalyticsTotal(TypedDict):
    calls: int
    payments: int
    revenue: float
    drawn: float
    refusals: dict[str, int]


class PaywallAnalyticsRoutesItem(TypedDict):
    route: str
    calls: int
    payments: int
    revenue: float
    drawn: float
    refusals: dict[str, int]


class PaywallAnalyticsDaysItem(TypedDict):
    day: str
    calls: int
    payments: int
    revenue: float
    drawn: float
    refusals: dict[str, int]


PaywallAnalytics = TypedDict("PaywallAnalytics", {
    "from": "str",
    "to": "str",
    "revenue": "float",
    "customers": "int",
    "total": "PaywallAnalyticsTotal",
    "routes": "list[PaywallAnalyticsRoutesItem]",
    "days": "list[PaywallAnalyticsDaysItem]",
})


class Invoicing(TypedDict):
    enabled: bool
    sellerName: str | Literal[""]
    sellerAddress: str | Literal[""]
    sellerTaxId: str | Literal[""]
    taxLabel: str
    taxPercent: float
    prefix: str
    note: str | Literal[""]


class InvoiceBuyer(TypedDict):
    name: str
    address: str
    country: str
    taxId: str


class Invoice(TypedDict):
    number: str
    paymentId: str
    issuedAt: str
    buyer: InvoiceBuyer
    product: str
    total: str
    tax: str | None


class ChatTurnsItem(TypedDict):
    turn: int
    status: Literal["working", "answered", "failed"]
    message: str
    answer: str | None
    isCut: bool
    paymentId: str
    token: str
    receiptUrl: str
    at: str


Chat = TypedDict("Chat", {
    "pass": "Pass",
    "turns": "list[ChatTurnsItem]",
})


class PaymentAddressPayment(TypedDict):
    id: str
    token: str


class PaymentAddressReturnsItem(TypedDict):
    to: str
    amount: float
    status: Literal["returning", "returned", "failed"]
    explorerUrl: str | None


class PaymentAddress(TypedDict):
    id: str
    checkoutId: str
    status: Literal["waiting", "partly_paid", "paying", "paid", "expired", "failed"]
    network: str
    chainId: int
    address: str
    amount: float
    received: float
    missing: float
    link: str | None
    qr: str | None
    left: float
    reason: str | None
    payment: PaymentAddressPayment | None
    returns: list[PaymentAddressReturnsItem]
    returnMinimum: float
    expiresAt: str
    createdAt: str


class RefundRequestAnswer(TypedDict):
    status: Literal["executed", "pending", "denied"]
    amount: str
    refundTxHash: NotRequired[str | None]
    denialReason: NotRequired[Literal["outside_window", "not_payer", "already_refunded", "amount_exceeds_settled", "policy_denied", "unknown_payment"]]


class Report(TypedDict):
    id: str
    state: Literal["open", "refunding", "refunded", "declined", "closed"]
    reason: Literal["service_not_delivered", "service_defective", "duplicate_payment", "overcharge", "customer_request", "other"]
    text: str | None
    answer: str | None
    answerBy: str
    refundId: str | None
    createdAt: str
    endedAt: str | None


class ReceiptReceiptRefundsItem(TypedDict):
    id: str
    state: Literal["requested", "funded", "sent", "confirmed", "failed"]
    amount: float
    txHash: str | None
    explorerUrl: str | None


class ReceiptReceipt(TypedDict):
    id: str
    product: Literal["tool", "checkout", "gate", "asset"]
    name: str
    status: str
    amount: float
    currency: Literal["USDC"]
    network: str
    payer: str
    txHash: str | None
    testMode: bool
    createdAt: str
    paidAt: str | None
    refunds: list[ReceiptReceiptRefundsItem]


class ReceiptDeliveryHistoryItem(TypedDict):
    at: str
    status: int | None
    error: str | None


class ReceiptDeliveryProgressItem(TypedDict):
    text: str
    percent: int | None
    at: str


class ReceiptDelivery(TypedDict):
    id: str
    status: str
    attempts: int
    lastStatus: int | None
    lastError: str | None
    nextAttemptAt: str | None
    history: list[ReceiptDeliveryHistoryItem] | None
    answer: str | None
    failure: str | None
    progress: list[ReceiptDeliveryProgressItem]


class ReceiptResult(TypedDict):
    kind: Literal["text"]
    text: str


class ReceiptResult2(TypedDict):
    kind: Literal["link"]
    url: str


class ReceiptResult3(TypedDict):
    kind: Literal["file"]
    name: str
    mediaType: str
    bytes: int
    url: str | None


class ReceiptDispute(TypedDict):
    id: str
    state: str
    reason: str
    answer: str | None
    answerBy: str
    createdAt: str


class ReceiptSignedEip712Payload(TypedDict):
    version: Literal[1]
    network: str
    resourceUrl: str
    payer: str
    issuedAt: int
    transaction: str


class ReceiptSignedEip712(TypedDict):
    format: Literal["eip712"]
    payload: ReceiptSignedEip712Payload
    signature: str


class ReceiptSignedJws(TypedDict):
    format: Literal["jws"]
    signature: str


class ReceiptSignedTerms(TypedDict):
    format: Literal["jws"]
    signature: str


class ReceiptSigned(TypedDict):
    eip712: ReceiptSignedEip712
    jws: ReceiptSignedJws
    terms: ReceiptSignedTerms | None
    verifyUrl: str


class Receipt(TypedDict):
    receipt: ReceiptReceipt
    delivery: ReceiptDelivery | None
    result: ReceiptResult | ReceiptResult2 | ReceiptResult3 | None
    dispute: ReceiptDispute | None
    signed: ReceiptSigned | None


class GetV1MeAnswer(TypedDict):
    userId: str
    environment: Literal["sandbox", "production"]
    keyId: str | None
    agentId: str | None
    handle: str | None
    wallet: dict[str, Any] | None


class PatchV1MeAnswer(TypedDict):
    userId: str
    environment: Literal["sandbox", "production"]
    keyId: str | None
    agentId: str | None
    handle: str | None
    wallet: dict[str, Any] | None


class PatchV1MeBody(TypedDict):
    handle: str | None


class PostV1MeAnswer(TypedDict):
    userId: str
    environment: Literal["sandbox", "production"]
    keyId: str | None
    agentId: str | None
    handle: str | None
    wallet: dict[str, Any] | None


class PostV1MeAnswer_(TypedDict):
    userId: str
    environment: Literal["sandbox", "production"]
    keyId: str | None
    agentId: str | None
    handle: str | None
    wallet: dict[str, Any] | None


class GetV1KeysAnswer(TypedDict):
    keys: list[ApiKey]
    total: int
    limit: int
    offset: int


class GetV1KeysQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1KeysAnswer(TypedDict):
    key: ApiKey
    secret: str | None


class PostV1KeysBody(TypedDict):
    name: str
    agentId: NotRequired[str | None]
    expiresAt: NotRequired[str | None]


class GetV1SigningSecretAnswerSigningSecret(TypedDict):
    secret: str | None
    createdAt: str
    previousExpiresAt: str | None


class GetV1SigningSecretAnswer(TypedDict):
    signingSecret: GetV1SigningSecretAnswerSigningSecret


class PostV1SigningSecretAnswerSigningSecret(TypedDict):
    secret: str | None
    createdAt: str
    previousExpiresAt: str | None


class PostV1SigningSecretAnswer(TypedDict):
    signingSecret: PostV1SigningSecretAnswerSigningSecret


class GetV1WebhookEndpointsAnswer(TypedDict):
    webhookEndpoints: list[WebhookEndpoint]
    total: int
    limit: int
    offset: int


class GetV1WebhookEndpointsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1WebhookEndpointsAnswer(TypedDict):
    webhookEndpoint: WebhookEndpoint
    secret: str | None


class PostV1WebhookEndpointsBody(TypedDict):
    url: str
    events: list[Literal["payment.completed", "payment.failed", "payment.refunded", "refund.failed", "dispute.opened", "dispute.closed", "customer.first_payment", "revenue.milestone", "pricing.tier_changed", "run.completed", "run.failed", "checkout.paused", "pass.created", "pass.ending", "pass.ended", "agent.spending.warning", "agent.spending.exceeded", "agent.paused", "connection.expired", "wallet.low_balance", "delivery.unconfirmed", "delivery.stopped", "delivery.exhausted", "endpoint.disabled"]]
    secret: NotRequired[str | None]


class GetV1WebhookEndpointsIdAnswer(TypedDict):
    webhookEndpoint: WebhookEndpoint


class PatchV1WebhookEndpointsIdAnswer(TypedDict):
    webhookEndpoint: WebhookEndpoint


class PatchV1WebhookEndpointsIdBody(TypedDict):
    url: NotRequired[str]
    events: NotRequired[list[Literal["payment.completed", "payment.failed", "payment.refunded", "refund.failed", "dispute.opened", "dispute.closed", "customer.first_payment", "revenue.milestone", "pricing.tier_changed", "run.completed", "run.failed", "checkout.paused", "pass.created", "pass.ending", "pass.ended", "agent.spending.warning", "agent.spending.exceeded", "agent.paused", "connection.expired", "wallet.low_balance", "delivery.unconfirmed", "delivery.stopped", "delivery.exhausted", "endpoint.disabled"]]]
    status: NotRequired[Literal["enabled", "disabled"]]


class PostV1WebhookEndpointsIdRotateSecretAnswer(TypedDict):
    webhookEndpoint: WebhookEndpoint
    secret: str | None


class PostV1WebhookEndpointsIdTestAnswerDeliveriesItem(TypedDict):
    id: str
    event: Literal["payment.completed", "payment.failed", "payment.refunded", "refund.failed", "dispute.opened", "dispute.closed", "customer.first_payment", "revenue.milestone", "pricing.tier_changed", "run.completed", "run.failed", "checkout.paused", "pass.created", "pass.ending", "pass.ended", "agent.spending.warning", "agent.spending.exceeded", "agent.paused", "connection.expired", "wallet.low_balance", "delivery.unconfirmed", "delivery.stopped", "delivery.exhausted", "endpoint.disabled"]


class PostV1WebhookEndpointsIdTestAnswer(TypedDict):
    deliveryId: str
    deliveries: list[PostV1WebhookEndpointsIdTestAnswerDeliveriesItem]


class PostV1WebhookEndpointsIdTestBody(TypedDict):
    event: NotRequired[Literal["payment.completed", "payment.failed", "payment.refunded", "refund.failed", "dispute.opened", "dispute.closed", "customer.first_payment", "revenue.milestone", "pricing.tier_changed", "run.completed", "run.failed", "checkout.paused", "pass.created", "pass.ending", "pass.ended", "agent.spending.warning", "agent.spending.exceeded", "agent.paused", "connection.expired", "wallet.low_balance", "delivery.unconfirmed", "delivery.stopped", "delivery.exhausted", "endpoint.disabled"]]


class PostV1WebhookEndpointsIdEventsConfirmBodyDeliveriesItem(TypedDict):
    id: str
    turn: NotRequired[int]
    status: int


class PostV1WebhookEndpointsIdEventsConfirmBody(TypedDict):
    deliveries: list[PostV1WebhookEndpointsIdEventsConfirmBodyDeliveriesItem]


class PostV1WebhookEndpointsIdEventsReplayAnswer(TypedDict):
    replayed: int


class PostV1WebhookEndpointsIdEventsReplayBody(TypedDict):
    since: str


class GetV1DeliveriesAnswer(TypedDict):
    deliveries: list[Delivery]
    total: int
    limit: int
    offset: int


class GetV1DeliveriesQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    subject: NotRequired[str]
    status: NotRequired[Literal["pending", "claimed", "delivered", "unconfirmed", "stopped", "exhausted"]]
    target: NotRequired[str]


class GetV1DeliveriesIdAnswer(TypedDict):
    delivery: DeliveryDetail


class PostV1DeliveriesIdRedeliverAnswer(TypedDict):
    delivery: DeliveryDetail


class PostV1DeliveriesIdClaimAnswer(TypedDict):
    claimed: bool


class GetV1AgentsAnswer(TypedDict):
    agents: list[Agent]
    total: int
    limit: int
    offset: int


class GetV1AgentsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1AgentsAnswer(TypedDict):
    agent: Agent


class PostV1AgentsBodyLimits(TypedDict):
    perCall: NotRequired[float | None]
    perMinute: NotRequired[float | None]
    perDay: NotRequired[float | None]
    perWeek: NotRequired[float | None]
    perMonth: NotRequired[float | None]
    lifetime: NotRequired[float | None]


class PostV1AgentsBodyRate(TypedDict):
    callsPerMinute: NotRequired[int | None]


class PostV1AgentsBodyTools(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PostV1AgentsBodyRdas(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PostV1AgentsBodyDomains(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PostV1AgentsBodyAlertsItem(TypedDict):
    at: float
    limit: NotRequired[Literal["perMinute", "perDay", "perWeek", "perMonth", "lifetime"] | None]


class PostV1AgentsBody(TypedDict):
    name: str
    status: NotRequired[Literal["active", "paused"]]
    limits: NotRequired[PostV1AgentsBodyLimits]
    rate: NotRequired[PostV1AgentsBodyRate]
    tools: NotRequired[PostV1AgentsBodyTools]
    rdas: NotRequired[PostV1AgentsBodyRdas]
    domains: NotRequired[PostV1AgentsBodyDomains]
    approvalAbove: NotRequired[float | None]
    alerts: NotRequired[list[PostV1AgentsBodyAlertsItem] | None]
    onExceeded: NotRequired[Literal["refuse", "pause"]]


class GetV1AgentsIdAnswer(TypedDict):
    agent: Agent


class PatchV1AgentsIdAnswer(TypedDict):
    agent: Agent


class PatchV1AgentsIdBodyLimits(TypedDict):
    perCall: NotRequired[float | None]
    perMinute: NotRequired[float | None]
    perDay: NotRequired[float | None]
    perWeek: NotRequired[float | None]
    perMonth: NotRequired[float | None]
    lifetime: NotRequired[float | None]


class PatchV1AgentsIdBodyRate(TypedDict):
    callsPerMinute: NotRequired[int | None]


class PatchV1AgentsIdBodyTools(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PatchV1AgentsIdBodyRdas(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PatchV1AgentsIdBodyDomains(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PatchV1AgentsIdBodyAlertsItem(TypedDict):
    at: float
    limit: NotRequired[Literal["perMinute", "perDay", "perWeek", "perMonth", "lifetime"] | None]


class PatchV1AgentsIdBody(TypedDict):
    name: NotRequired[str]
    status: NotRequired[Literal["active", "paused"]]
    limits: NotRequired[PatchV1AgentsIdBodyLimits]
    rate: NotRequired[PatchV1AgentsIdBodyRate]
    tools: NotRequired[PatchV1AgentsIdBodyTools]
    rdas: NotRequired[PatchV1AgentsIdBodyRdas]
    domains: NotRequired[PatchV1AgentsIdBodyDomains]
    approvalAbove: NotRequired[float | None]
    alerts: NotRequired[list[PatchV1AgentsIdBodyAlertsItem] | None]
    onExceeded: NotRequired[Literal["refuse", "pause"]]


class GetV1AgentsIdPolicyAnswerPolicyLimits(TypedDict):
    perCall: float | None
    perMinute: float | None
    perDay: float | None
    perWeek: float | None
    perMonth: float | None
    lifetime: float | None


class GetV1AgentsIdPolicyAnswerPolicyRate(TypedDict):
    callsPerMinute: int | None


class GetV1AgentsIdPolicyAnswerPolicyTools(TypedDict):
    allow: list[str] | None
    deny: list[str]


class GetV1AgentsIdPolicyAnswerPolicyRdas(TypedDict):
    allow: list[str] | None
    deny: list[str]


class GetV1AgentsIdPolicyAnswerPolicyDomains(TypedDict):
    allow: list[str] | None
    deny: list[str]


class GetV1AgentsIdPolicyAnswerPolicyAlertsItem(TypedDict):
    at: float
    limit: Literal["perMinute", "perDay", "perWeek", "perMonth", "lifetime"] | None


class GetV1AgentsIdPolicyAnswerPolicy(TypedDict):
    limits: GetV1AgentsIdPolicyAnswerPolicyLimits
    rate: GetV1AgentsIdPolicyAnswerPolicyRate
    tools: GetV1AgentsIdPolicyAnswerPolicyTools
    rdas: GetV1AgentsIdPolicyAnswerPolicyRdas
    domains: GetV1AgentsIdPolicyAnswerPolicyDomains
    approvalAbove: float | None
    alerts: list[GetV1AgentsIdPolicyAnswerPolicyAlertsItem]
    onExceeded: Literal["refuse", "pause"]


class GetV1AgentsIdPolicyAnswerWindowsItem(TypedDict):
    limit: Literal["perMinute", "perDay", "perWeek", "perMonth", "lifetime"]
    allowed: float | None
    spent: float
    remaining: float | None
    startsAt: str | None
    resetsAt: str | None


class GetV1AgentsIdPolicyAnswerCalls(TypedDict):
    allowed: int | None
    made: int
    resetsAt: str


class GetV1AgentsIdPolicyAnswer(TypedDict):
    agentId: str
    status: Literal["active", "paused"]
    policy: GetV1AgentsIdPolicyAnswerPolicy
    windows: list[GetV1AgentsIdPolicyAnswerWindowsItem]
    calls: GetV1AgentsIdPolicyAnswerCalls
    warnings: list[str]


class PostV1AgentsIdCheckAnswer(TypedDict):
    outcome: Literal["allowed", "refused", "held"]
    limit: str | None
    allowed: float | None
    spent: float | None
    requested: float | None
    pattern: str | None
    resetsAt: str | None


class PostV1AgentsIdCheckBody(TypedDict):
    kind: Literal["run", "tool", "pay"]
    target: str
    amount: float
    domain: NotRequired[str | None]


class PostV1AgentsIdSimulateAnswerRefusalsItemWould(TypedDict):
    outcome: Literal["allowed", "refused", "held"]
    limit: str | None
    allowed: float | None
    spent: float | None
    requested: float | None
    pattern: str | None
    resetsAt: str | None


class PostV1AgentsIdSimulateAnswerRefusalsItem(TypedDict):
    id: str
    at: str
    kind: Literal["run", "tool", "pay"]
    target: str
    domain: str | None
    amount: float
    returned: float
    outcome: Literal["allowed", "refused", "held"]
    rule: str | None
    pattern: str | None
    reference: str | None
    approvalId: str | None
    would: PostV1AgentsIdSimulateAnswerRefusalsItemWould


PostV1AgentsIdSimulateAnswer = TypedDict("PostV1AgentsIdSimulateAnswer", {
    "calls": "int",
    "allowed": "int",
    "refused": "int",
    "held": "int",
    "from": "str",
    "complete": "bool",
    "refusals": "list[PostV1AgentsIdSimulateAnswerRefusalsItem]",
})


class PostV1AgentsIdSimulateBodyPolicyLimits(TypedDict):
    perCall: NotRequired[float | None]
    perMinute: NotRequired[float | None]
    perDay: NotRequired[float | None]
    perWeek: NotRequired[float | None]
    perMonth: NotRequired[float | None]
    lifetime: NotRequired[float | None]


class PostV1AgentsIdSimulateBodyPolicyRate(TypedDict):
    callsPerMinute: NotRequired[int | None]


class PostV1AgentsIdSimulateBodyPolicyTools(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PostV1AgentsIdSimulateBodyPolicyRdas(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PostV1AgentsIdSimulateBodyPolicyDomains(TypedDict):
    allow: NotRequired[list[str] | None]
    deny: NotRequired[list[str] | None]


class PostV1AgentsIdSimulateBodyPolicyAlertsItem(TypedDict):
    at: float
    limit: NotRequired[Literal["perMinute", "perDay", "perWeek", "perMonth", "lifetime"] | None]


class PostV1AgentsIdSimulateBodyPolicy(TypedDict):
    limits: NotRequired[PostV1AgentsIdSimulateBodyPolicyLimits]
    rate: NotRequired[PostV1AgentsIdSimulateBodyPolicyRate]
    tools: NotRequired[PostV1AgentsIdSimulateBodyPolicyTools]
    rdas: NotRequired[PostV1AgentsIdSimulateBodyPolicyRdas]
    domains: NotRequired[PostV1AgentsIdSimulateBodyPolicyDomains]
    approvalAbove: NotRequired[float | None]
    alerts: NotRequired[list[PostV1AgentsIdSimulateBodyPolicyAlertsItem] | None]
    onExceeded: NotRequired[Literal["refuse", "pause"]]


class PostV1AgentsIdSimulateBody(TypedDict):
    policy: PostV1AgentsIdSimulateBodyPolicy
    days: NotRequired[int]


class GetV1AgentsIdDecisionsAnswer(TypedDict):
    decisions: list[SpendingDecision]
    total: int
    limit: int
    offset: int


class GetV1AgentsIdDecisionsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    outcome: NotRequired[Literal["allowed", "refused", "held"]]
    kind: NotRequired[Literal["run", "tool", "pay"]]


class GetV1AgentsIdSpendingAnswerSpendingItem(TypedDict):
    key: str
    amount: float
    calls: int


class GetV1AgentsIdSpendingAnswer(TypedDict):
    by: Literal["day", "target", "kind"]
    days: int
    spending: list[GetV1AgentsIdSpendingAnswerSpendingItem]


class GetV1AgentsIdSpendingQuery(TypedDict):
    by: NotRequired[Literal["day", "target", "kind"]]
    days: NotRequired[str]


class GetV1ApprovalsAnswer(TypedDict):
    approvals: list[Approval]
    total: int
    limit: int
    offset: int


class GetV1ApprovalsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    status: NotRequired[Literal["pending", "approved", "refused", "lapsed", "used"]]
    agentId: NotRequired[str]


class GetV1ApprovalsIdAnswer(TypedDict):
    approval: Approval


class PostV1ApprovalsIdApproveAnswer(TypedDict):
    approval: Approval


class PostV1ApprovalsIdRefuseAnswer(TypedDict):
    approval: Approval


class GetV1ApprovalsIdPageQuery(TypedDict):
    ticket: str


class PostV1ApprovalsIdPageApproveQuery(TypedDict):
    ticket: str


class PostV1ApprovalsIdPageRefuseQuery(TypedDict):
    ticket: str


class PostV1PayAnswerResponse(TypedDict):
    status: int
    headers: dict[str, str | list[str]]
    body: str
    encoding: Literal["utf8", "base64"]


class PostV1PayAnswer(TypedDict):
    payment: PaidCall | None
    response: PostV1PayAnswerResponse | None


PostV1PayBody = TypedDict("PostV1PayBody", {
    "url": "str",
    "method": "NotRequired[Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE']]",
    "headers": "NotRequired[dict[str, str] | None]",
    "body": "NotRequired[Any]",
    "maxAmount": "float",
    "async": "NotRequired[bool]",
})


class GetV1PayAnswer(TypedDict):
    payments: list[PaidCall]
    total: int
    limit: int
    offset: int


class GetV1PayQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1PayIdAnswerResponse(TypedDict):
    status: int
    headers: dict[str, str | list[str]]
    body: str
    encoding: Literal["utf8", "base64"]


class GetV1PayIdAnswer(TypedDict):
    payment: PaidCall
    response: GetV1PayIdAnswerResponse | None


class GetV1PaymentsAnswer(TypedDict):
    payments: list[Payment]
    total: int
    limit: int
    offset: int


GetV1PaymentsQuery = TypedDict("GetV1PaymentsQuery", {
    "limit": "NotRequired[int]",
    "offset": "NotRequired[int]",
    "product": "NotRequired[Literal['tool', 'checkout', 'gate', 'asset']]",
    "state": "NotRequired[Literal['created', 'settling', 'paid', 'refunded', 'released', 'failed']]",
    "payer": "NotRequired[str]",
    "from": "NotRequired[str]",
    "to": "NotRequired[str]",
    "refunded": "NotRequired[Literal[True, False]]",
})


class GetV1PaymentsIdAnswer(TypedDict):
    payment: PaymentWithRefunds


class PostV1PaymentsIdRefundAnswer(TypedDict):
    refund: Refund


PostV1PaymentsIdRefundBody = TypedDict("PostV1PaymentsIdRefundBody", {
    "amount": "NotRequired[float | None]",
    "reason": "str",
    "from": "NotRequired[Literal['balance', 'own']]",
})


class PostV1PaymentsIdRefundsRefundIdSignatureAnswer(TypedDict):
    refund: Refund


class PostV1PaymentsIdRefundsRefundIdSignatureBody(TypedDict):
    signature: str


class GetV1DisputesAnswer(TypedDict):
    disputes: list[Dispute]
    total: int
    limit: int
    offset: int


class GetV1DisputesQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    state: NotRequired[Literal["open", "refunding", "refunded", "declined", "closed"]]


class GetV1DisputesIdAnswer(TypedDict):
    dispute: Dispute


class PostV1DisputesIdAnswerAnswer(TypedDict):
    dispute: Dispute


class PostV1DisputesIdAnswerBody(TypedDict):
    action: Literal["refund", "decline"]
    amount: NotRequired[float | None]
    text: NotRequired[str | None]


class GetV1RefundPolicyAnswer(TypedDict):
    refundPolicy: RefundPolicy


class PatchV1RefundPolicyAnswer(TypedDict):
    refundPolicy: RefundPolicy


class PatchV1RefundPolicyBody(TypedDict):
    windowDays: NotRequired[int]
    answerDays: NotRequired[int]
    unanswered: NotRequired[Literal["refund", "close"]]
    partialRefunds: NotRequired[bool]
    agents: NotRequired[Literal["automatic", "asked"]]
    automaticPerSale: NotRequired[float]
    automaticPerDay: NotRequired[float]


class GetV1PassesAnswer(TypedDict):
    passes: list[Pass]
    cursor: str | None


class GetV1PassesQuery(TypedDict):
    checkout: NotRequired[str]
    holder: NotRequired[str]
    limit: NotRequired[int]
    cursor: NotRequired[str]


GetV1PassesIdAnswer = TypedDict("GetV1PassesIdAnswer", {
    "pass": "Pass",
})


PostV1PassesIdEndAnswer = TypedDict("PostV1PassesIdEndAnswer", {
    "pass": "Pass",
})


class GetV1WalletBalanceAnswer(TypedDict):
    wallet: Wallet


class PostV1WalletDepositAnswer(TypedDict):
    deposited: bool
    amount: float
    transactionHash: str | None
    newBalance: float


class PostV1WalletDepositBody(TypedDict):
    amount: float
    transactionHash: NotRequired[str | None]


class GetV1WalletTransactionsAnswer(TypedDict):
    transactions: list[Transaction]
    total: int
    limit: int
    offset: int


class GetV1WalletTransactionsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1WalletWithdrawAnswer(TypedDict):
    withdrawal: Withdrawal


class PostV1WalletWithdrawBody(TypedDict):
    amount: float
    to: str


class GetV1WalletWithdrawalsAnswer(TypedDict):
    withdrawals: list[Withdrawal]
    total: int
    limit: int
    offset: int


class GetV1WalletWithdrawalsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1WalletWithdrawalsIdAnswer(TypedDict):
    withdrawal: Withdrawal


class GetV1WalletAlertAnswer(TypedDict):
    below: float | None


class PostV1WalletAlertAnswer(TypedDict):
    below: float | None


class PostV1WalletAlertBody(TypedDict):
    below: float | None


class GetV1CreditsAnswerCredits(TypedDict):
    balance: float
    granted: float
    spent: float
    withheld: Literal["sign_up_bound"] | None


class GetV1CreditsAnswer(TypedDict):
    credits: GetV1CreditsAnswerCredits


class PostV1HooksIdentityAnswer(TypedDict):
    received: bool
    credited: int


class PostV1FilesAnswer(TypedDict):
    file: File


class PostV1FilesQuery(TypedDict):
    name: str
    purpose: NotRequired[Literal["sale", "picture"]]


class GetV1FilesAnswer(TypedDict):
    files: list[File]
    total: int
    limit: int
    offset: int
    bytes: int
    bytesMax: int


class GetV1FilesQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1FilesIdAnswer(TypedDict):
    file: File


class DeleteV1FilesIdQuery(TypedDict):
    soldToo: NotRequired[Literal[True, False]]


class GetV1BrandAnswerBrandColorsLight(TypedDict):
    accent: str
    fill: str
    onFill: str
    fillDeep: str


class GetV1BrandAnswerBrandColorsDark(TypedDict):
    accent: str
    fill: str
    onFill: str
    fillDeep: str


class GetV1BrandAnswerBrandColors(TypedDict):
    light: GetV1BrandAnswerBrandColorsLight
    dark: GetV1BrandAnswerBrandColorsDark


class GetV1BrandAnswerBrand(TypedDict):
    name: str | None
    logo: str | None
    logoUrl: str | None
    accent: str | None
    accentNote: str | None
    colors: GetV1BrandAnswerBrandColors | None
    theme: Literal["auto", "light", "dark"]
    supportEmail: str | None
    supportUrl: str | None
    imprintUrl: str | None
    termsUrl: str | None
    privacyUrl: str | None


class GetV1BrandAnswer(TypedDict):
    brand: GetV1BrandAnswerBrand


class PatchV1BrandAnswerBrandColorsLight(TypedDict):
    accent: str
    fill: str
    onFill: str
    fillDeep: str


class PatchV1BrandAnswerBrandColorsDark(TypedDict):
    accent: str
    fill: str
    onFill: str
    fillDeep: str


class PatchV1BrandAnswerBrandColors(TypedDict):
    light: PatchV1BrandAnswerBrandColorsLight
    dark: PatchV1BrandAnswerBrandColorsDark


class PatchV1BrandAnswerBrand(TypedDict):
    name: str | None
    logo: str | None
    logoUrl: str | None
    accent: str | None
    accentNote: str | None
    colors: PatchV1BrandAnswerBrandColors | None
    theme: Literal["auto", "light", "dark"]
    supportEmail: str | None
    supportUrl: str | None
    imprintUrl: str | None
    termsUrl: str | None
    privacyUrl: str | None


class PatchV1BrandAnswer(TypedDict):
    brand: PatchV1BrandAnswerBrand


class PatchV1BrandBody(TypedDict):
    name: NotRequired[str | None]
    logo: NotRequired[str | None]
    accent: NotRequired[str | None]
    theme: NotRequired[Literal["auto", "light", "dark"]]
    supportEmail: NotRequired[str | None]
    supportUrl: NotRequired[str | None]
    imprintUrl: NotRequired[str | None]
    termsUrl: NotRequired[str | None]
    privacyUrl: NotRequired[str | None]


class PostV1CouponsAnswer(TypedDict):
    coupon: Coupon


class GetV1CouponsAnswer(TypedDict):
    coupons: list[Coupon]
    total: int
    limit: int
    offset: int


class GetV1CouponsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    archived: NotRequired[Literal[True, False]]


class GetV1CouponsIdAnswer(TypedDict):
    coupon: Coupon


class PatchV1CouponsIdAnswer(TypedDict):
    coupon: Coupon


class PostV1CouponsIdArchiveAnswer(TypedDict):
    coupon: Coupon


class PostV1CheckoutsAnswer(TypedDict):
    checkout: Checkout
    secret: str | None


class GetV1CheckoutsAnswer(TypedDict):
    checkouts: list[Checkout]
    total: int
    limit: int
    offset: int


class GetV1CheckoutsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1CheckoutsIdAnswer(TypedDict):
    checkout: Checkout
    secret: NotRequired[str | None]


class GetV1CheckoutsIdQuery(TypedDict):
    secret: NotRequired[Literal[True]]


class PatchV1CheckoutsIdAnswer(TypedDict):
    checkout: Checkout


class DeleteV1CheckoutsIdAnswer(TypedDict):
    checkout: Checkout


class DeleteV1CheckoutsIdQuery(TypedDict):
    graceSeconds: NotRequired[int]
    lifetime: NotRequired[Literal["temporary"]]


class PostV1CheckoutsIdHeartbeatAnswer(TypedDict):
    checkout: Checkout


class PostV1CheckoutsIdRotateSecretAnswer(TypedDict):
    checkout: Checkout
    secret: str | None


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemRefundsItem(TypedDict):
    id: str
    state: Literal["requested", "funded", "sent", "confirmed", "failed"]
    amount: float
    txHash: str | None
    explorerUrl: str | None


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemCollect(TypedDict):
    addressId: str
    token: str


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemReason(TypedDict):
    code: str
    sentence: str


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemEscrow(TypedDict):
    contract: str
    captureBy: str
    state: Literal["authorizing", "waiting", "capturing", "captured", "voiding", "voided", "reclaimable", "none"]
    authorizedTx: str | None
    voidedTx: str | None


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemPassPlan(TypedDict):
    id: str
    name: str


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemPass(TypedDict):
    id: str
    plan: GetV1CheckoutsIdPaymentsAnswerPaymentsItemPassPlan
    status: Literal["active", "used_up", "ended"]
    runs: int | None
    runsLeft: int | None
    until: str | None
    token: str | None


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemDeliveryHistoryItem(TypedDict):
    at: str
    status: int | None
    error: str | None


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemDeliveryProgressItem(TypedDict):
    text: str
    percent: int | None
    at: str


class GetV1CheckoutsIdPaymentsAnswerPaymentsItemDelivery(TypedDict):
    id: str
    status: str
    attempts: int
    lastStatus: int | None
    lastError: str | None
    nextAttemptAt: str | None
    history: list[GetV1CheckoutsIdPaymentsAnswerPaymentsItemDeliveryHistoryItem] | None
    answer: str | None
    failure: str | None
    progress: list[GetV1CheckoutsIdPaymentsAnswerPaymentsItemDeliveryProgressItem]


GetV1CheckoutsIdPaymentsAnswerPaymentsItem = TypedDict("GetV1CheckoutsIdPaymentsAnswerPaymentsItem", {
    "id": "str",
    "checkoutId": "str",
    "status": "Literal['created', 'settling', 'paid', 'failed']",
    "txHash": "str | None",
    "amount": "float",
    "lines": "CheckoutLines",
    "refunded": "float",
    "refunds": "list[GetV1CheckoutsIdPaymentsAnswerPaymentsItemRefundsItem]",
    "collect": "GetV1CheckoutsIdPaymentsAnswerPaymentsItemCollect | None",
    "currency": "Literal['USDC']",
    "network": "Literal['base', 'base-sepolia']",
    "payer": "str",
    "explorerUrl": "str | None",
    "reason": "GetV1CheckoutsIdPaymentsAnswerPaymentsItemReason | None",
    "statusUrl": "str",
    "testMode": "bool",
    "capture": "Literal['onPayment', 'onSuccess', 'escrow']",
    "deadline": "str | None",
    "escrow": "GetV1CheckoutsIdPaymentsAnswerPaymentsItemEscrow | None",
    "free": "Literal['pass', 'trial', 'coupon'] | None",
    "pass": "GetV1CheckoutsIdPaymentsAnswerPaymentsItemPass | None",
    "createdAt": "str",
    "paidAt": "str | None",
    "redirectUrl": "str | None",
    "token": "str | None",
    "receiptUrl": "str | None",
    "signedReceipt": "str | None",
    "verifyUrl": "str | None",
    "input": "dict[str, Any]",
    "delivery": "GetV1CheckoutsIdPaymentsAnswerPaymentsItemDelivery | None",
})


class GetV1CheckoutsIdPaymentsAnswer(TypedDict):
    payments: list[GetV1CheckoutsIdPaymentsAnswerPaymentsItem]
    total: int
    limit: int
    offset: int


class GetV1CheckoutsIdPaymentsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1CheckoutsIdTestPaymentBody(TypedDict):
    input: NotRequired[dict[str, Any]]


class PostV1PaymentsIdOutcomeBody(TypedDict):
    status: Literal["succeeded", "failed"]
    answer: NotRequired[str | None]


class PostV1PaymentsIdProgressAnswer(TypedDict):
    shown: bool


class PostV1PaymentsIdProgressBody(TypedDict):
    text: str
    percent: NotRequired[float | None]


class PostV1PaymentsIdRequestsAnswer(TypedDict):
    request: PaymentRequest


class PostV1PaymentsIdRequestsQuery(TypedDict):
    waits: NotRequired[Literal[True]]


class PostV1PaymentsIdRequestsBody(TypedDict):
    amount: float
    note: str
    expiresInSeconds: NotRequired[int]
    callbackUrl: NotRequired[str | None]


class GetV1PaymentsIdRequestsAnswer(TypedDict):
    requests: list[PaymentRequest]


class GetV1RdasAnswer(TypedDict):
    rdas: list[ReducedRda]
    total: int
    limit: int
    offset: int


class GetV1RdasQuery(TypedDict):
    type: NotRequired[Literal["prompt", "agent", "tool"]]
    status: NotRequired[Literal["draft", "published", "archived"]]
    verified: NotRequired[Literal[True, False]]
    featured: NotRequired[Literal[True, False]]
    trending: NotRequired[Literal[True, False]]
    ownerId: NotRequired[str]
    search: NotRequired[str]
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1RdaIdentifierAnswer(TypedDict):
    rda: Rda


class PatchV1RdaIdentifierAnswer(TypedDict):
    rda: Rda


class PatchV1RdaIdentifierBodyInputSchemaItemShowIf(TypedDict):
    field: str
    equals: bool | str


class PatchV1RdaIdentifierBodyInputSchemaItem(TypedDict):
    name: str
    label: NotRequired[str | None]
    type: Literal["text", "textarea", "number", "boolean", "select", "url", "email", "date", "json", "file"]
    required: NotRequired[bool | None]
    placeholder: NotRequired[str | None]
    options: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    default: NotRequired[Any]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    pattern: NotRequired[str | None]
    patternMessage: NotRequired[str | None]
    showIf: NotRequired[PatchV1RdaIdentifierBodyInputSchemaItemShowIf | None]


class PatchV1RdaIdentifierBodyOutputSchema(TypedDict):
    type: Literal["markdown", "text", "json", "file"]


class PatchV1RdaIdentifierBodyPricing(TypedDict):
    model: Literal["per-run", "per-token", "per-second", "free"]
    amount: NotRequired[float | None]
    currency: NotRequired[Literal["USDC"] | None]


class PatchV1RdaIdentifierBodyPromptConfigExamplesItem(TypedDict):
    title: str
    inputs: dict[str, Any]
    output: str
    model: NotRequired[str | None]


class PatchV1RdaIdentifierBodyPromptConfig(TypedDict):
    promptTemplate: NotRequired[str | None]
    systemPrompt: NotRequired[str | None]
    allowedModels: NotRequired[list[str] | None]
    defaultModelId: NotRequired[str | None]
    sourcePrice: NotRequired[float | None]
    freeRunsPerDay: NotRequired[int | None]
    examples: NotRequired[list[PatchV1RdaIdentifierBodyPromptConfigExamplesItem] | None]


class PatchV1RdaIdentifierBodyAgentConfigExamplesItem(TypedDict):
    title: str
    inputs: dict[str, Any]
    output: str


class PatchV1RdaIdentifierBodyAgentConfig(TypedDict):
    webhookUrl: NotRequired[str | None]
    webhookMethod: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None]
    webhookHeaders: NotRequired[dict[str, str] | None]
    timeoutSeconds: NotRequired[int | None]
    maxRetries: NotRequired[int | None]
    pollUrl: NotRequired[str | None]
    pollIntervalMs: NotRequired[int | None]
    basePrice: NotRequired[float | None]
    examples: NotRequired[list[PatchV1RdaIdentifierBodyAgentConfigExamplesItem] | None]


class PatchV1RdaIdentifierBodyToolConfigAuthConfig(TypedDict):
    headerName: NotRequired[str | None]
    apiKey: NotRequired[str | None]
    token: NotRequired[str | None]
    username: NotRequired[str | None]
    password: NotRequired[str | None]


class PatchV1RdaIdentifierBodyToolConfigExamplesItem(TypedDict):
    title: str
    inputs: dict[str, Any]
    output: str


class PatchV1RdaIdentifierBodyToolConfig(TypedDict):
    apiEndpoint: NotRequired[str | None]
    apiMethod: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None]
    apiHeaders: NotRequired[dict[str, str] | None]
    authType: NotRequired[Literal["none", "api_key", "bearer", "basic"] | None]
    authConfig: NotRequired[PatchV1RdaIdentifierBodyToolConfigAuthConfig | None]
    requestTransform: NotRequired[str | None]
    responseTransform: NotRequired[str | None]
    timeoutSeconds: NotRequired[int | None]
    rateLimitPerMinute: NotRequired[int | None]
    basePrice: NotRequired[float | None]
    examples: NotRequired[list[PatchV1RdaIdentifierBodyToolConfigExamplesItem] | None]


class PatchV1RdaIdentifierBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    inputSchema: NotRequired[list[PatchV1RdaIdentifierBodyInputSchemaItem]]
    longDescription: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    coverImage: NotRequired[str | None]
    codeSnippet: NotRequired[str | None]
    codeLanguage: NotRequired[str | None]
    outputSchema: NotRequired[PatchV1RdaIdentifierBodyOutputSchema | None]
    pricing: NotRequired[PatchV1RdaIdentifierBodyPricing | None]
    sharesInputs: NotRequired[bool | None]
    promptConfig: NotRequired[PatchV1RdaIdentifierBodyPromptConfig | None]
    agentConfig: NotRequired[PatchV1RdaIdentifierBodyAgentConfig | None]
    toolConfig: NotRequired[PatchV1RdaIdentifierBodyToolConfig | None]
    version: NotRequired[str]


class GetV1ModelsAnswerModelsItemPricing(TypedDict):
    input: float
    output: float
    currency: Literal["USDC"]
    per: int


class GetV1ModelsAnswerModelsItem(TypedDict):
    id: str
    name: str
    tier: Literal["fast", "balanced", "reasoning"]
    pricing: GetV1ModelsAnswerModelsItemPricing


class GetV1ModelsAnswer(TypedDict):
    models: list[GetV1ModelsAnswerModelsItem]


class PostV1RdaAnswerRda(TypedDict):
    id: str
    slug: str
    type: str
    status: str


class PostV1RdaAnswer(TypedDict):
    created: bool
    rda: PostV1RdaAnswerRda


class PostV1RdaBodyInputSchemaItemShowIf(TypedDict):
    field: str
    equals: bool | str


class PostV1RdaBodyInputSchemaItem(TypedDict):
    name: str
    label: NotRequired[str | None]
    type: Literal["text", "textarea", "number", "boolean", "select", "url", "email", "date", "json", "file"]
    required: NotRequired[bool | None]
    placeholder: NotRequired[str | None]
    options: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    default: NotRequired[Any]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    pattern: NotRequired[str | None]
    patternMessage: NotRequired[str | None]
    showIf: NotRequired[PostV1RdaBodyInputSchemaItemShowIf | None]


class PostV1RdaBodyOutputSchema(TypedDict):
    type: Literal["markdown", "text", "json", "file"]


class PostV1RdaBodyPricing(TypedDict):
    model: Literal["per-run", "per-token", "per-second", "free"]
    amount: NotRequired[float | None]
    currency: NotRequired[Literal["USDC"] | None]


class PostV1RdaBodyPromptConfigExamplesItem(TypedDict):
    title: str
    inputs: dict[str, Any]
    output: str
    model: NotRequired[str | None]


class PostV1RdaBodyPromptConfig(TypedDict):
    promptTemplate: NotRequired[str | None]
    systemPrompt: NotRequired[str | None]
    allowedModels: NotRequired[list[str] | None]
    defaultModelId: NotRequired[str | None]
    sourcePrice: NotRequired[float | None]
    freeRunsPerDay: NotRequired[int | None]
    examples: NotRequired[list[PostV1RdaBodyPromptConfigExamplesItem] | None]


class PostV1RdaBodyAgentConfigExamplesItem(TypedDict):
    title: str
    inputs: dict[str, Any]
    output: str


class PostV1RdaBodyAgentConfig(TypedDict):
    webhookUrl: NotRequired[str | None]
    webhookMethod: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None]
    webhookHeaders: NotRequired[dict[str, str] | None]
    timeoutSeconds: NotRequired[int | None]
    maxRetries: NotRequired[int | None]
    pollUrl: NotRequired[str | None]
    pollIntervalMs: NotRequired[int | None]
    basePrice: NotRequired[float | None]
    examples: NotRequired[list[PostV1RdaBodyAgentConfigExamplesItem] | None]


class PostV1RdaBodyToolConfigAuthConfig(TypedDict):
    headerName: NotRequired[str | None]
    apiKey: NotRequired[str | None]
    token: NotRequired[str | None]
    username: NotRequired[str | None]
    password: NotRequired[str | None]


class PostV1RdaBodyToolConfigExamplesItem(TypedDict):
    title: str
    inputs: dict[str, Any]
    output: str


class PostV1RdaBodyToolConfig(TypedDict):
    apiEndpoint: NotRequired[str | None]
    apiMethod: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None]
    apiHeaders: NotRequired[dict[str, str] | None]
    authType: NotRequired[Literal["none", "api_key", "bearer", "basic"] | None]
    authConfig: NotRequired[PostV1RdaBodyToolConfigAuthConfig | None]
    requestTransform: NotRequired[str | None]
    responseTransform: NotRequired[str | None]
    timeoutSeconds: NotRequired[int | None]
    rateLimitPerMinute: NotRequired[int | None]
    basePrice: NotRequired[float | None]
    examples: NotRequired[list[PostV1RdaBodyToolConfigExamplesItem] | None]


class PostV1RdaBody(TypedDict):
    slug: str
    type: Literal["prompt", "agent", "tool"]
    name: str
    description: str
    inputSchema: list[PostV1RdaBodyInputSchemaItem]
    longDescription: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    coverImage: NotRequired[str | None]
    codeSnippet: NotRequired[str | None]
    codeLanguage: NotRequired[str | None]
    outputSchema: NotRequired[PostV1RdaBodyOutputSchema | None]
    pricing: NotRequired[PostV1RdaBodyPricing | None]
    sharesInputs: NotRequired[bool | None]
    promptConfig: NotRequired[PostV1RdaBodyPromptConfig | None]
    agentConfig: NotRequired[PostV1RdaBodyAgentConfig | None]
    toolConfig: NotRequired[PostV1RdaBodyToolConfig | None]


class PostV1RdaIdentifierPublishAnswer(TypedDict):
    rda: Rda


class PostV1RdaIdentifierUnpublishAnswer(TypedDict):
    rda: Rda


class PostV1RdaIdentifierArchiveAnswer(TypedDict):
    rda: Rda


class PostV1RdaIdentifierRateAnswerStats(TypedDict):
    averageRating: float
    totalRatings: int


class PostV1RdaIdentifierRateAnswer(TypedDict):
    rated: bool
    score: int
    stats: PostV1RdaIdentifierRateAnswerStats


class PostV1RdaIdentifierRateBody(TypedDict):
    score: int
    text: NotRequired[str | None]


class PostV1RdaIdentifierSourceAnswerSource(TypedDict):
    rdaId: str
    version: str
    promptTemplate: str
    systemPrompt: str | None


class PostV1RdaIdentifierSourceAnswer(TypedDict):
    source: PostV1RdaIdentifierSourceAnswerSource
    cost: float


class PostV1RdaIdentifierSourceBody(TypedDict):
    maxCost: NotRequired[float | None]


class GetV1RdaIdentifierReviewsAnswerReviewsItem(TypedDict):
    id: str
    score: int
    text: str
    createdAt: str
    reply: str | None
    repliedAt: str | None


class GetV1RdaIdentifierReviewsAnswer(TypedDict):
    reviews: list[GetV1RdaIdentifierReviewsAnswerReviewsItem]
    next: str | None


class GetV1RdaIdentifierReviewsQuery(TypedDict):
    limit: NotRequired[int]
    before: NotRequired[str]


class PostV1RdaIdentifierReviewsReviewReplyAnswer(TypedDict):
    replied: Literal[True]


class PostV1RdaIdentifierReviewsReviewReplyBody(TypedDict):
    text: str


class PostV1RdaSlugRunAnswer(TypedDict):
    success: bool
    runId: str
    output: str
    cost: float
    duration: float
    modelId: str | None
    usage: Usage
    txHash: str
    network: str
    payer: str
    paymentToken: str


class PostV1RdaSlugRunBody(TypedDict):
    inputs: dict[str, Any]
    maxCost: NotRequired[float | None]


class PostV1RunAnswer(TypedDict):
    success: bool
    runId: str
    status: Literal["queued", "running", "succeeded", "failed", "canceled"]
    statusUrl: str


PostV1RunBody = TypedDict("PostV1RunBody", {
    "rdaSlug": "str",
    "inputs": "dict[str, Any]",
    "modelId": "NotRequired[str | None]",
    "maxCost": "NotRequired[float | None]",
    "webhookUrl": "NotRequired[str | None]",
    "sharesInputs": "NotRequired[bool | None]",
    "async": "NotRequired[bool | None]",
})


class GetV1RunsAnswer(TypedDict):
    runs: list[RunSummary]
    total: int
    limit: int
    offset: int


class GetV1RunsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    status: NotRequired[Literal["queued", "running", "succeeded", "failed", "canceled"]]
    rda: NotRequired[str]


class GetV1RdaIdentifierRunsAnswer(TypedDict):
    runs: list[CustomerRun]
    total: int
    limit: int
    offset: int


class GetV1RdaIdentifierRunsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    status: NotRequired[Literal["queued", "running", "succeeded", "failed", "canceled"]]


class GetV1RunsIdAnswer(TypedDict):
    run: Run


class PostV1RunsIdCancelAnswer(TypedDict):
    canceled: bool
    message: str
    run: Run


class GetV1ConnectionsAnswer(TypedDict):
    connections: list[Connection]
    total: int
    limit: int
    offset: int


class GetV1ConnectionsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1ConnectionsAnswer(TypedDict):
    connection: Connection


class PostV1ConnectionsAuthorizeAnswer(TypedDict):
    connection: Connection
    authorizationUrl: str
    userCode: str | None
    expiresAt: str


class GetV1ConnectionsIdAnswer(TypedDict):
    connection: Connection


class PatchV1ConnectionsIdAnswer(TypedDict):
    connection: Connection


class PostV1ConnectionsIdTestAnswer(TypedDict):
    ok: bool | None
    tool: str | None
    status: int | None


class GetV1ToolCallsAnswerCallsItem(TypedDict):
    callId: str
    tool: str
    provider: str
    success: bool
    cost: float
    error: str | None
    code: str | None
    duration: int
    agentId: str | None
    at: str


class GetV1ToolCallsAnswer(TypedDict):
    calls: list[GetV1ToolCallsAnswerCallsItem]
    total: int
    limit: int
    offset: int


class GetV1ToolCallsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    tool: NotRequired[str]


class GetV1ToolCallsCallIdAnswerPages(TypedDict):
    read: int
    next: dict[str, Any] | None


class GetV1ToolCallsCallIdAnswerOperation(TypedDict):
    askAt: str
    expiresAt: str


class GetV1ToolCallsCallIdAnswer(TypedDict):
    success: Literal[True]
    tool: str
    output: Any
    simulated: bool
    pages: NotRequired[GetV1ToolCallsCallIdAnswerPages]
    operation: NotRequired[GetV1ToolCallsCallIdAnswerOperation]
    cost: float
    credits: float | None
    balance: float | None
    duration: int
    callId: str
    txHash: NotRequired[str]
    paymentToken: NotRequired[str]


class GetV1ToolCallsCallIdQuery(TypedDict):
    fields: NotRequired[str]


class PostV1PaywallsAnswer(TypedDict):
    paywall: Paywall
    secret: str | None


class GetV1PaywallsAnswer(TypedDict):
    paywalls: list[Paywall]
    total: int
    limit: int
    offset: int


class GetV1PaywallsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1PaywallsIdAnswer(TypedDict):
    paywall: Paywall


class PatchV1PaywallsIdAnswer(TypedDict):
    paywall: Paywall


class DeleteV1PaywallsIdAnswer(TypedDict):
    paywall: Paywall


class PostV1PaywallsIdRotateSecretAnswer(TypedDict):
    paywall: Paywall
    secret: str | None


class GetV1PaywallsIdPaymentsAnswer(TypedDict):
    payments: list[PaywallPayment]
    total: int
    limit: int
    offset: int


class GetV1PaywallsIdPaymentsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class GetV1PaywallsIdAnalyticsAnswer(TypedDict):
    analytics: PaywallAnalytics


GetV1PaywallsIdAnalyticsQuery = TypedDict("GetV1PaywallsIdAnalyticsQuery", {
    "from": "NotRequired[str]",
    "to": "NotRequired[str]",
})


class GetV1InvoicingAnswer(TypedDict):
    invoicing: Invoicing


class PatchV1InvoicingAnswer(TypedDict):
    invoicing: Invoicing


class GetV1InvoicesAnswer(TypedDict):
    invoices: list[Invoice]
    total: int
    limit: int
    offset: int


class GetV1InvoicesQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]


class PostV1PaymentsIdReceiptAnswer(TypedDict):
    email: str


class GetToolsAnswersIdQuery(TypedDict):
    token: str


class GetToolsAnswerToolsItemStats(TypedDict):
    calls: int
    successRate: float | None
    p50: float | None
    p95: float | None
    lastError: str | None
    failing: bool


class GetToolsAnswerToolsItem(TypedDict):
    slug: str
    name: str
    description: str
    provider: str
    price: float
    needs: Literal["nothing", "platform", "connection"]
    inputs: NotRequired[list[str]]
    required: NotRequired[list[str]]
    simulated: bool
    score: NotRequired[float]
    successRate: NotRequired[float]
    p50Ms: NotRequired[float | None]
    warning: NotRequired[str]
    category: NotRequired[str | None]
    deprecated: NotRequired[bool]
    inputSchema: NotRequired[dict[str, Any]]
    outputSchema: NotRequired[dict[str, Any] | None]
    paged: NotRequired[bool]
    stats: NotRequired[GetToolsAnswerToolsItemStats]


class GetToolsAnswerNearestItemStats(TypedDict):
    calls: int
    successRate: float | None
    p50: float | None
    p95: float | None
    lastError: str | None
    failing: bool


class GetToolsAnswerNearestItem(TypedDict):
    slug: str
    name: str
    description: str
    provider: str
    price: float
    needs: Literal["nothing", "platform", "connection"]
    inputs: NotRequired[list[str]]
    required: NotRequired[list[str]]
    simulated: bool
    score: NotRequired[float]
    successRate: NotRequired[float]
    p50Ms: NotRequired[float | None]
    warning: NotRequired[str]
    category: NotRequired[str | None]
    deprecated: NotRequired[bool]
    inputSchema: NotRequired[dict[str, Any]]
    outputSchema: NotRequired[dict[str, Any] | None]
    paged: NotRequired[bool]
    stats: NotRequired[GetToolsAnswerNearestItemStats]


class GetToolsAnswer(TypedDict):
    tools: list[GetToolsAnswerToolsItem]
    total: int
    limit: int
    offset: int
    note: NotRequired[str]
    nearest: NotRequired[list[GetToolsAnswerNearestItem]]


class GetToolsQuery(TypedDict):
    limit: NotRequired[int]
    offset: NotRequired[int]
    search: NotRequired[str]
    provider: NotRequired[str]
    category: NotRequired[str]
    collection: NotRequired[str]
    view: NotRequired[Literal["short", "full"]]


class GetToolsProvidersAnswerProvidersItem(TypedDict):
    slug: str
    name: str
    description: str
    kind: Literal["openapi", "mcp", "rda"]
    simulated: bool
    own: bool
    tools: int


class GetToolsProvidersAnswer(TypedDict):
    providers: list[GetToolsProvidersAnswerProvidersItem]


class GetToolsCollectionsAnswerCollectionsItem(TypedDict):
    slug: str
    name: str
    description: str
    tools: int


class GetToolsCollectionsAnswer(TypedDict):
    collections: list[GetToolsCollectionsAnswerCollectionsItem]


class GetToolsSlugAnswerToolStats(TypedDict):
    calls: int
    successRate: float | None
    p50: float | None
    p95: float | None
    lastError: str | None
    failing: bool


class GetToolsSlugAnswerTool(TypedDict):
    slug: str
    name: str
    description: str
    provider: str
    category: str | None
    price: float
    deprecated: bool
    inputSchema: dict[str, Any]
    outputSchema: dict[str, Any] | None
    needs: Literal["nothing", "platform", "connection"]
    paged: bool
    simulated: bool
    stats: GetToolsSlugAnswerToolStats


class GetToolsSlugAnswer(TypedDict):
    tool: GetToolsSlugAnswerTool


class PostToolsSlugAnswerPages(TypedDict):
    read: int
    next: dict[str, Any] | None


class PostToolsSlugAnswerOperation(TypedDict):
    askAt: str
    expiresAt: str


class PostToolsSlugAnswer(TypedDict):
    success: Literal[True]
    tool: str
    output: Any
    simulated: bool
    pages: NotRequired[PostToolsSlugAnswerPages]
    operation: NotRequired[PostToolsSlugAnswerOperation]
    cost: float
    credits: float | None
    balance: float | None
    duration: int
    callId: str
    txHash: NotRequired[str]
    paymentToken: NotRequired[str]


class PostToolsSlugQuery(TypedDict):
    fields: NotRequired[str]
    all: NotRequired[Literal[True, False]]
    maxPages: NotRequired[int]
    maxCost: NotRequired[float]


class PostToolsPaySlugAnswer(TypedDict):
    success: Literal[True]
    tool: str
    output: Any
    simulated: bool
    cost: float
    duration: int
    callId: str
    txHash: str
    paymentToken: str


class PostToolsPaySlugQuery(TypedDict):
    maxCost: NotRequired[float]


class GetToolsPaySlugCallsIdAnswer(TypedDict):
    callId: str
    tool: str
    status: Literal["calling", "settling", "paid", "failed"]
    amount: float
    network: str
    reason: str | None
    txHash: str | None
    at: str


class PostToolsMcpAnswerError(TypedDict):
    code: int
    message: str


class PostToolsMcpAnswer(TypedDict):
    jsonrpc: Literal["2.0"]
    id: str | int
    result: NotRequired[dict[str, Any]]
    error: NotRequired[PostToolsMcpAnswerError]


class PostToolsMcpQuery(TypedDict):
    key: NotRequired[str]
    auth: NotRequired[Literal["oauth"]]
    view: NotRequired[Literal["all"]]
    provider: NotRequired[str]
    collection: NotRequired[str]


class PostToolsMcpBody(TypedDict):
    jsonrpc: Literal["2.0"]
    id: NotRequired[str | int]
    method: str
    params: NotRequired[dict[str, Any]]


class GetToolsMcpQuery(TypedDict):
    key: NotRequired[str]
    auth: NotRequired[Literal["oauth"]]
    view: NotRequired[Literal["all"]]
    provider: NotRequired[str]
    collection: NotRequired[str]


class PostToolsMcpMessagesQuery(TypedDict):
    key: NotRequired[str]
    sessionId: str


class PostToolsMcpMessagesBody(TypedDict):
    jsonrpc: Literal["2.0"]
    id: NotRequired[str | int]
    method: str
    params: NotRequired[dict[str, Any]]


if TYPE_CHECKING:
    class Request(Protocol):
        """Any operation by its name in the reference."""

        @overload
        def __call__(
            self, name: Literal["GET /v1/me"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1MeAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/me"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1MeBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1MeAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/me"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1MeAnswer | PostV1MeAnswer_: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/keys"], *, path: Mapping[str, str] | None = None, query: GetV1KeysQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1KeysAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/keys"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1KeysBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1KeysAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/keys/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/signing-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1SigningSecretAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/signing-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1SigningSecretAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/webhook-endpoints"], *, path: Mapping[str, str] | None = None, query: GetV1WebhookEndpointsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WebhookEndpointsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/webhook-endpoints"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/webhook-endpoints/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WebhookEndpointsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/webhook-endpoints/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1WebhookEndpointsIdBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1WebhookEndpointsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/webhook-endpoints/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/rotate-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsIdRotateSecretAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/test"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsIdTestBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsIdTestAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/webhook-endpoints/{id}/events"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/events/confirm"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsIdEventsConfirmBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/events/replay"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsIdEventsReplayBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsIdEventsReplayAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/deliveries"], *, path: Mapping[str, str] | None = None, query: GetV1DeliveriesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DeliveriesAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/deliveries/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DeliveriesIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/deliveries/{id}/redeliver"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1DeliveriesIdRedeliverAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/deliveries/{id}/claim"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1DeliveriesIdClaimAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/agents"], *, path: Mapping[str, str] | None = None, query: GetV1AgentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/agents"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1AgentsBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1AgentsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/agents/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/agents/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1AgentsIdBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1AgentsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/agents/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/agents/{id}/policy"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdPolicyAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/agents/{id}/check"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1AgentsIdCheckBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1AgentsIdCheckAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/agents/{id}/simulate"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1AgentsIdSimulateBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1AgentsIdSimulateAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/agents/{id}/decisions"], *, path: Mapping[str, str] | None = None, query: GetV1AgentsIdDecisionsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdDecisionsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/agents/{id}/spending"], *, path: Mapping[str, str] | None = None, query: GetV1AgentsIdSpendingQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdSpendingAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/approvals"], *, path: Mapping[str, str] | None = None, query: GetV1ApprovalsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ApprovalsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/approvals/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ApprovalsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/approvals/{id}/approve"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ApprovalsIdApproveAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/approvals/{id}/refuse"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ApprovalsIdRefuseAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/approvals/{id}/page"], *, path: Mapping[str, str] | None = None, query: GetV1ApprovalsIdPageQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/approvals/{id}/page/approve"], *, path: Mapping[str, str] | None = None, query: PostV1ApprovalsIdPageApproveQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/approvals/{id}/page/refuse"], *, path: Mapping[str, str] | None = None, query: PostV1ApprovalsIdPageRefuseQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/pay"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PayBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PayAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/pay"], *, path: Mapping[str, str] | None = None, query: GetV1PayQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PayAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/pay/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PayIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/payments"], *, path: Mapping[str, str] | None = None, query: GetV1PaymentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaymentsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/payments/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaymentsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/payments/{id}/refund"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdRefundBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdRefundAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/payments/{id}/refunds/{refundId}/signature"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdRefundsRefundIdSignatureBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdRefundsRefundIdSignatureAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/disputes"], *, path: Mapping[str, str] | None = None, query: GetV1DisputesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DisputesAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/disputes/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DisputesIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/disputes/{id}/answer"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1DisputesIdAnswerBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1DisputesIdAnswerAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/refund-policy"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RefundPolicyAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/refund-policy"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1RefundPolicyBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1RefundPolicyAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/passes"], *, path: Mapping[str, str] | None = None, query: GetV1PassesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PassesAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/passes/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PassesIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/passes/{id}/end"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PassesIdEndAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/wallet/balance"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletBalanceAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/wallet/deposit"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WalletDepositBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WalletDepositAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/wallet/transactions"], *, path: Mapping[str, str] | None = None, query: GetV1WalletTransactionsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletTransactionsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/wallet/withdraw"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WalletWithdrawBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WalletWithdrawAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/wallet/withdrawals"], *, path: Mapping[str, str] | None = None, query: GetV1WalletWithdrawalsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletWithdrawalsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/wallet/withdrawals/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletWithdrawalsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/wallet/alert"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletAlertAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/wallet/alert"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WalletAlertBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WalletAlertAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/credits"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CreditsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/hooks/identity"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: Any | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1HooksIdentityAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/files"], *, path: Mapping[str, str] | None = None, query: PostV1FilesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1FilesAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/files"], *, path: Mapping[str, str] | None = None, query: GetV1FilesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1FilesAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/files/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1FilesIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/files/{id}"], *, path: Mapping[str, str] | None = None, query: DeleteV1FilesIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/brand"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1BrandAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/brand"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1BrandBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1BrandAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/coupons"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CouponTerms | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CouponsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/coupons"], *, path: Mapping[str, str] | None = None, query: GetV1CouponsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CouponsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/coupons/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CouponsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/coupons/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CouponChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1CouponsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/coupons/{id}/archive"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CouponsIdArchiveAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/checkouts"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CheckoutTerms | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CheckoutsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/checkouts"], *, path: Mapping[str, str] | None = None, query: GetV1CheckoutsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CheckoutsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/checkouts/{id}"], *, path: Mapping[str, str] | None = None, query: GetV1CheckoutsIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CheckoutsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/checkouts/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CheckoutChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1CheckoutsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/checkouts/{id}"], *, path: Mapping[str, str] | None = None, query: DeleteV1CheckoutsIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> DeleteV1CheckoutsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/checkouts/{id}/heartbeat"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CheckoutsIdHeartbeatAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/checkouts/{id}/rotate-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CheckoutsIdRotateSecretAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/checkouts/{id}/payments"], *, path: Mapping[str, str] | None = None, query: GetV1CheckoutsIdPaymentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CheckoutsIdPaymentsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/checkouts/{id}/test-payment"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1CheckoutsIdTestPaymentBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> CheckoutPayment: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/payments/{id}/outcome"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdOutcomeBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> CheckoutPayment: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/payments/{id}/progress"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdProgressBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdProgressAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/payments/{id}/requests"], *, path: Mapping[str, str] | None = None, query: PostV1PaymentsIdRequestsQuery | None = None, body: PostV1PaymentsIdRequestsBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdRequestsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/payments/{id}/requests"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaymentsIdRequestsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/rdas"], *, path: Mapping[str, str] | None = None, query: GetV1RdasQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdasAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/rda/{identifier}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdaIdentifierAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/rda/{identifier}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1RdaIdentifierBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1RdaIdentifierAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/models"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ModelsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/publish"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierPublishAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/unpublish"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierUnpublishAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/archive"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierArchiveAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/rate"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaIdentifierRateBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierRateAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/source"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaIdentifierSourceBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierSourceAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/rda/{identifier}/reviews"], *, path: Mapping[str, str] | None = None, query: GetV1RdaIdentifierReviewsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdaIdentifierReviewsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/reviews/{review}/reply"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaIdentifierReviewsReviewReplyBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierReviewsReviewReplyAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/rda/{slug}/run"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaSlugRunBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaSlugRunAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/run"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RunBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> RunResult | PostV1RunAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/runs"], *, path: Mapping[str, str] | None = None, query: GetV1RunsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RunsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/rda/{identifier}/runs"], *, path: Mapping[str, str] | None = None, query: GetV1RdaIdentifierRunsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdaIdentifierRunsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/runs/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RunsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/runs/{id}/cancel"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RunsIdCancelAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/runs/{id}/events"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/connections"], *, path: Mapping[str, str] | None = None, query: GetV1ConnectionsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ConnectionsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/connections"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: NewConnection | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ConnectionsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/connections/authorize"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: NewAuthorization | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ConnectionsAuthorizeAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/connections/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ConnectionsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/connections/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: ConnectionChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1ConnectionsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/connections/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/connections/{id}/test"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ConnectionsIdTestAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/tool-calls"], *, path: Mapping[str, str] | None = None, query: GetV1ToolCallsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ToolCallsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/tool-calls/{callId}"], *, path: Mapping[str, str] | None = None, query: GetV1ToolCallsCallIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ToolCallsCallIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/paywalls"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: NewPaywall | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaywallsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/paywalls"], *, path: Mapping[str, str] | None = None, query: GetV1PaywallsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/paywalls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/paywalls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PaywallChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1PaywallsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /v1/paywalls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> DeleteV1PaywallsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/paywalls/{id}/rotate-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaywallsIdRotateSecretAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/paywalls/{id}/payments"], *, path: Mapping[str, str] | None = None, query: GetV1PaywallsIdPaymentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsIdPaymentsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/paywalls/{id}/analytics"], *, path: Mapping[str, str] | None = None, query: GetV1PaywallsIdAnalyticsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsIdAnalyticsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/invoicing"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1InvoicingAnswer: ...

        @overload
        def __call__(
            self, name: Literal["PATCH /v1/invoicing"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: InvoicingChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1InvoicingAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/invoices"], *, path: Mapping[str, str] | None = None, query: GetV1InvoicesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1InvoicesAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /v1/invoices/{payment}/pdf"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["POST /v1/payments/{id}/receipt"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdReceiptAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/answers/{id}"], *, path: Mapping[str, str] | None = None, query: GetToolsAnswersIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/"], *, path: Mapping[str, str] | None = None, query: GetToolsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/providers"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsProvidersAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/collections"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsCollectionsAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/{slug}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsSlugAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /tools/{slug}"], *, path: Mapping[str, str] | None = None, query: PostToolsSlugQuery | None = None, body: Any | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostToolsSlugAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /tools/pay/{slug}"], *, path: Mapping[str, str] | None = None, query: PostToolsPaySlugQuery | None = None, body: Any | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostToolsPaySlugAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/pay/{slug}/calls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsPaySlugCallsIdAnswer: ...

        @overload
        def __call__(
            self, name: Literal["POST /tools/mcp"], *, path: Mapping[str, str] | None = None, query: PostToolsMcpQuery | None = None, body: PostToolsMcpBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostToolsMcpAnswer: ...

        @overload
        def __call__(
            self, name: Literal["GET /tools/mcp"], *, path: Mapping[str, str] | None = None, query: GetToolsMcpQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["DELETE /tools/mcp"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        def __call__(
            self, name: Literal["POST /tools/mcp/messages"], *, path: Mapping[str, str] | None = None, query: PostToolsMcpMessagesQuery | None = None, body: PostToolsMcpMessagesBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

    class AsyncRequest(Protocol):
        """Any operation by its name in the reference."""

        @overload
        async def __call__(
            self, name: Literal["GET /v1/me"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1MeAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/me"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1MeBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1MeAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/me"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1MeAnswer | PostV1MeAnswer_: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/keys"], *, path: Mapping[str, str] | None = None, query: GetV1KeysQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1KeysAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/keys"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1KeysBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1KeysAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/keys/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/signing-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1SigningSecretAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/signing-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1SigningSecretAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/webhook-endpoints"], *, path: Mapping[str, str] | None = None, query: GetV1WebhookEndpointsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WebhookEndpointsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/webhook-endpoints"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/webhook-endpoints/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WebhookEndpointsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/webhook-endpoints/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1WebhookEndpointsIdBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1WebhookEndpointsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/webhook-endpoints/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/rotate-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsIdRotateSecretAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/test"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsIdTestBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsIdTestAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/webhook-endpoints/{id}/events"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/events/confirm"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsIdEventsConfirmBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/webhook-endpoints/{id}/events/replay"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WebhookEndpointsIdEventsReplayBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WebhookEndpointsIdEventsReplayAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/deliveries"], *, path: Mapping[str, str] | None = None, query: GetV1DeliveriesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DeliveriesAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/deliveries/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DeliveriesIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/deliveries/{id}/redeliver"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1DeliveriesIdRedeliverAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/deliveries/{id}/claim"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1DeliveriesIdClaimAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/agents"], *, path: Mapping[str, str] | None = None, query: GetV1AgentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/agents"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1AgentsBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1AgentsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/agents/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/agents/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1AgentsIdBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1AgentsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/agents/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/agents/{id}/policy"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdPolicyAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/agents/{id}/check"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1AgentsIdCheckBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1AgentsIdCheckAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/agents/{id}/simulate"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1AgentsIdSimulateBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1AgentsIdSimulateAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/agents/{id}/decisions"], *, path: Mapping[str, str] | None = None, query: GetV1AgentsIdDecisionsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdDecisionsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/agents/{id}/spending"], *, path: Mapping[str, str] | None = None, query: GetV1AgentsIdSpendingQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1AgentsIdSpendingAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/approvals"], *, path: Mapping[str, str] | None = None, query: GetV1ApprovalsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ApprovalsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/approvals/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ApprovalsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/approvals/{id}/approve"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ApprovalsIdApproveAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/approvals/{id}/refuse"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ApprovalsIdRefuseAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/approvals/{id}/page"], *, path: Mapping[str, str] | None = None, query: GetV1ApprovalsIdPageQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/approvals/{id}/page/approve"], *, path: Mapping[str, str] | None = None, query: PostV1ApprovalsIdPageApproveQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/approvals/{id}/page/refuse"], *, path: Mapping[str, str] | None = None, query: PostV1ApprovalsIdPageRefuseQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/pay"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PayBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PayAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/pay"], *, path: Mapping[str, str] | None = None, query: GetV1PayQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PayAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/pay/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PayIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/payments"], *, path: Mapping[str, str] | None = None, query: GetV1PaymentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaymentsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/payments/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaymentsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/payments/{id}/refund"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdRefundBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdRefundAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/payments/{id}/refunds/{refundId}/signature"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdRefundsRefundIdSignatureBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdRefundsRefundIdSignatureAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/disputes"], *, path: Mapping[str, str] | None = None, query: GetV1DisputesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DisputesAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/disputes/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1DisputesIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/disputes/{id}/answer"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1DisputesIdAnswerBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1DisputesIdAnswerAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/refund-policy"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RefundPolicyAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/refund-policy"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1RefundPolicyBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1RefundPolicyAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/passes"], *, path: Mapping[str, str] | None = None, query: GetV1PassesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PassesAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/passes/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PassesIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/passes/{id}/end"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PassesIdEndAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/wallet/balance"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletBalanceAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/wallet/deposit"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WalletDepositBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WalletDepositAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/wallet/transactions"], *, path: Mapping[str, str] | None = None, query: GetV1WalletTransactionsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletTransactionsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/wallet/withdraw"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WalletWithdrawBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WalletWithdrawAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/wallet/withdrawals"], *, path: Mapping[str, str] | None = None, query: GetV1WalletWithdrawalsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletWithdrawalsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/wallet/withdrawals/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletWithdrawalsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/wallet/alert"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1WalletAlertAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/wallet/alert"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1WalletAlertBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1WalletAlertAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/credits"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CreditsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/hooks/identity"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: Any | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1HooksIdentityAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/files"], *, path: Mapping[str, str] | None = None, query: PostV1FilesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1FilesAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/files"], *, path: Mapping[str, str] | None = None, query: GetV1FilesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1FilesAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/files/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1FilesIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/files/{id}"], *, path: Mapping[str, str] | None = None, query: DeleteV1FilesIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/brand"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1BrandAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/brand"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1BrandBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1BrandAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/coupons"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CouponTerms | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CouponsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/coupons"], *, path: Mapping[str, str] | None = None, query: GetV1CouponsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CouponsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/coupons/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CouponsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/coupons/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CouponChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1CouponsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/coupons/{id}/archive"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CouponsIdArchiveAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/checkouts"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CheckoutTerms | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CheckoutsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/checkouts"], *, path: Mapping[str, str] | None = None, query: GetV1CheckoutsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CheckoutsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/checkouts/{id}"], *, path: Mapping[str, str] | None = None, query: GetV1CheckoutsIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CheckoutsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/checkouts/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: CheckoutChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1CheckoutsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/checkouts/{id}"], *, path: Mapping[str, str] | None = None, query: DeleteV1CheckoutsIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> DeleteV1CheckoutsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/checkouts/{id}/heartbeat"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CheckoutsIdHeartbeatAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/checkouts/{id}/rotate-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1CheckoutsIdRotateSecretAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/checkouts/{id}/payments"], *, path: Mapping[str, str] | None = None, query: GetV1CheckoutsIdPaymentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1CheckoutsIdPaymentsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/checkouts/{id}/test-payment"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1CheckoutsIdTestPaymentBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> CheckoutPayment: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/payments/{id}/outcome"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdOutcomeBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> CheckoutPayment: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/payments/{id}/progress"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1PaymentsIdProgressBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdProgressAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/payments/{id}/requests"], *, path: Mapping[str, str] | None = None, query: PostV1PaymentsIdRequestsQuery | None = None, body: PostV1PaymentsIdRequestsBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdRequestsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/payments/{id}/requests"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaymentsIdRequestsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/rdas"], *, path: Mapping[str, str] | None = None, query: GetV1RdasQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdasAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/rda/{identifier}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdaIdentifierAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/rda/{identifier}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PatchV1RdaIdentifierBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1RdaIdentifierAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/models"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ModelsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/publish"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierPublishAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/unpublish"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierUnpublishAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/archive"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierArchiveAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/rate"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaIdentifierRateBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierRateAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/source"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaIdentifierSourceBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierSourceAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/rda/{identifier}/reviews"], *, path: Mapping[str, str] | None = None, query: GetV1RdaIdentifierReviewsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdaIdentifierReviewsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{identifier}/reviews/{review}/reply"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaIdentifierReviewsReviewReplyBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaIdentifierReviewsReviewReplyAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/rda/{slug}/run"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RdaSlugRunBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RdaSlugRunAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/run"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PostV1RunBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> RunResult | PostV1RunAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/runs"], *, path: Mapping[str, str] | None = None, query: GetV1RunsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RunsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/rda/{identifier}/runs"], *, path: Mapping[str, str] | None = None, query: GetV1RdaIdentifierRunsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RdaIdentifierRunsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/runs/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1RunsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/runs/{id}/cancel"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1RunsIdCancelAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/runs/{id}/events"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/connections"], *, path: Mapping[str, str] | None = None, query: GetV1ConnectionsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ConnectionsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/connections"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: NewConnection | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ConnectionsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/connections/authorize"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: NewAuthorization | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ConnectionsAuthorizeAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/connections/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ConnectionsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/connections/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: ConnectionChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1ConnectionsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/connections/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/connections/{id}/test"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1ConnectionsIdTestAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/tool-calls"], *, path: Mapping[str, str] | None = None, query: GetV1ToolCallsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ToolCallsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/tool-calls/{callId}"], *, path: Mapping[str, str] | None = None, query: GetV1ToolCallsCallIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1ToolCallsCallIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/paywalls"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: NewPaywall | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaywallsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/paywalls"], *, path: Mapping[str, str] | None = None, query: GetV1PaywallsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/paywalls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/paywalls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: PaywallChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1PaywallsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /v1/paywalls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> DeleteV1PaywallsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/paywalls/{id}/rotate-secret"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaywallsIdRotateSecretAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/paywalls/{id}/payments"], *, path: Mapping[str, str] | None = None, query: GetV1PaywallsIdPaymentsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsIdPaymentsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/paywalls/{id}/analytics"], *, path: Mapping[str, str] | None = None, query: GetV1PaywallsIdAnalyticsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1PaywallsIdAnalyticsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/invoicing"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1InvoicingAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["PATCH /v1/invoicing"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: InvoicingChange | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PatchV1InvoicingAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/invoices"], *, path: Mapping[str, str] | None = None, query: GetV1InvoicesQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetV1InvoicesAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /v1/invoices/{payment}/pdf"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["POST /v1/payments/{id}/receipt"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostV1PaymentsIdReceiptAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/answers/{id}"], *, path: Mapping[str, str] | None = None, query: GetToolsAnswersIdQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> str: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/"], *, path: Mapping[str, str] | None = None, query: GetToolsQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/providers"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsProvidersAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/collections"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsCollectionsAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/{slug}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsSlugAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /tools/{slug}"], *, path: Mapping[str, str] | None = None, query: PostToolsSlugQuery | None = None, body: Any | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostToolsSlugAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /tools/pay/{slug}"], *, path: Mapping[str, str] | None = None, query: PostToolsPaySlugQuery | None = None, body: Any | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostToolsPaySlugAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/pay/{slug}/calls/{id}"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> GetToolsPaySlugCallsIdAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["POST /tools/mcp"], *, path: Mapping[str, str] | None = None, query: PostToolsMcpQuery | None = None, body: PostToolsMcpBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> PostToolsMcpAnswer: ...

        @overload
        async def __call__(
            self, name: Literal["GET /tools/mcp"], *, path: Mapping[str, str] | None = None, query: GetToolsMcpQuery | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["DELETE /tools/mcp"], *, path: Mapping[str, str] | None = None, query: None | None = None, body: None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...

        @overload
        async def __call__(
            self, name: Literal["POST /tools/mcp/messages"], *, path: Mapping[str, str] | None = None, query: PostToolsMcpMessagesQuery | None = None, body: PostToolsMcpMessagesBody | None = None, idempotency_key: str | None = None, timeout: float | None = None, retries: int | None = None
        ) -> None: ...
