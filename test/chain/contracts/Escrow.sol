// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Token {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
}

interface Collector {
    function collectorType() external view returns (uint8);
    function collectTokens(
        PaymentInfo calldata paymentInfo,
        address tokenStore,
        uint256 amount,
        bytes calldata collectorData
    ) external;
}

struct PaymentInfo {
    address operator;
    address payer;
    address receiver;
    address token;
    uint120 maxAmount;
    uint48 preApprovalExpiry;
    uint48 authorizationExpiry;
    uint48 refundExpiry;
    uint16 minFeeBps;
    uint16 maxFeeBps;
    address feeReceiver;
    uint256 salt;
}

/**
 * What the escrow of the scheme auth-capture (its version 1.1) does where an operator, a payer and a receiver can see
 * it: its calls, hashes, errors and events. One difference: it holds all money itself, and not in one store for each
 * operator.
 */
contract AuthCaptureEscrow {
    struct State {
        bool hasCollectedPayment;
        uint120 capturableAmount;
        uint120 refundableAmount;
    }

    bytes32 public constant PAYMENT_INFO_TYPEHASH =
        keccak256(
            'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)'
        );
    uint8 private constant PAYMENT = 0;
    uint8 private constant REFUND = 1;

    mapping(bytes32 => State) public paymentState;
    bool private transient entered;

    event PaymentAuthorized(
        bytes32 indexed paymentInfoHash,
        PaymentInfo paymentInfo,
        uint256 amount,
        address tokenCollector
    );
    event PaymentCharged(
        bytes32 indexed paymentInfoHash,
        PaymentInfo paymentInfo,
        uint256 amount,
        address tokenCollector,
        uint256 feeAmount,
        address feeReceiver
    );
    event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver);
    event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentRefunded(bytes32 indexed paymentInfoHash, uint256 amount, address tokenCollector);

    error InvalidSender(address sender, address expected);
    error ZeroAmount();
    error AmountOverflow(uint256 amount, uint256 limit);
    error ExceedsMaxAmount(uint256 amount, uint256 maxAmount);
    error AfterPreApprovalExpiry(uint48 timestamp, uint48 expiry);
    error InvalidExpiries(uint48 preApproval, uint48 authorization, uint48 refund);
    error FeeBpsOverflow(uint16 feeBps);
    error InvalidFeeBpsRange(uint16 minFeeBps, uint16 maxFeeBps);
    error FeeAmountOutOfRange(uint256 feeAmount, uint256 minFee, uint256 maxFee);
    error ZeroFeeReceiver();
    error InvalidFeeReceiver(address attempted, address expected);
    error InvalidCollectorForOperation();
    error TokenCollectionFailed();
    error PaymentAlreadyCollected(bytes32 paymentInfoHash);
    error AfterAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error BeforeAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error InsufficientAuthorization(bytes32 paymentInfoHash, uint256 authorizedAmount, uint256 requestedAmount);
    error ZeroAuthorization(bytes32 paymentInfoHash);
    error AfterRefundExpiry(uint48 timestamp, uint48 expiry);
    error RefundExceedsCapture(uint256 refund, uint256 captured);
    error Reentered();

    modifier by(address allowed) {
        if (msg.sender != allowed) revert InvalidSender(msg.sender, allowed);
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }

    modifier some(uint256 amount) {
        if (amount == 0) revert ZeroAmount();
        if (amount > type(uint120).max) revert AmountOverflow(amount, type(uint120).max);
        _;
    }

    function authorize(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData
    ) external by(paymentInfo.operator) some(amount) {
        bytes32 hash = begin(paymentInfo, amount);
        paymentState[hash] = State(true, uint120(amount), 0);
        emit PaymentAuthorized(hash, paymentInfo, amount, tokenCollector);
        collect(paymentInfo, amount, tokenCollector, collectorData, PAYMENT);
    }

    function charge(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData,
        uint256 feeAmount,
        address feeReceiver
    ) external by(paymentInfo.operator) some(amount) {
        bytes32 hash = begin(paymentInfo, amount);
        checkFee(paymentInfo, amount, feeAmount, feeReceiver);
        paymentState[hash] = State(true, 0, uint120(amount));
        emit PaymentCharged(hash, paymentInfo, amount, tokenCollector, feeAmount, feeReceiver);
        collect(paymentInfo, amount, tokenCollector, collectorData, PAYMENT);
        distribute(paymentInfo, amount, feeAmount, feeReceiver);
    }

    function capture(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        uint256 feeAmount,
        address feeReceiver
    ) external by(paymentInfo.operator) some(amount) {
        checkFee(paymentInfo, amount, feeAmount, feeReceiver);
        if (block.timestamp >= paymentInfo.authorizationExpiry) {
            revert AfterAuthorizationExpiry(uint48(block.timestamp), paymentInfo.authorizationExpiry);
        }
        bytes32 hash = getHash(paymentInfo);
        State storage state = paymentState[hash];
        if (amount > state.capturableAmount) {
            revert InsufficientAuthorization(hash, state.capturableAmount, amount);
        }
        state.capturableAmount -= uint120(amount);
        state.refundableAmount += uint120(amount);
        emit PaymentCaptured(hash, amount, feeAmount, feeReceiver);
        distribute(paymentInfo, amount, feeAmount, feeReceiver);
    }

    function void(PaymentInfo calldata paymentInfo) external by(paymentInfo.operator) {
        (bytes32 hash, uint256 amount) = empty(paymentInfo);
        emit PaymentVoided(hash, amount);
        send(paymentInfo.token, paymentInfo.payer, amount);
    }

    function reclaim(PaymentInfo calldata paymentInfo) external by(paymentInfo.payer) {
        if (block.timestamp < paymentInfo.authorizationExpiry) {
            revert BeforeAuthorizationExpiry(uint48(block.timestamp), paymentInfo.authorizationExpiry);
        }
        (bytes32 hash, uint256 amount) = empty(paymentInfo);
        emit PaymentReclaimed(hash, amount);
        send(paymentInfo.token, paymentInfo.payer, amount);
    }

    function refund(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData
    ) external by(paymentInfo.operator) some(amount) {
        if (block.timestamp >= paymentInfo.refundExpiry) {
            revert AfterRefundExpiry(uint48(block.timestamp), paymentInfo.refundExpiry);
        }
        bytes32 hash = getHash(paymentInfo);
        State storage state = paymentState[hash];
        if (amount > state.refundableAmount) revert RefundExceedsCapture(amount, state.refundableAmount);
        state.refundableAmount -= uint120(amount);
        emit PaymentRefunded(hash, amount, tokenCollector);
        collect(paymentInfo, amount, tokenCollector, collectorData, REFUND);
        send(paymentInfo.token, paymentInfo.payer, amount);
    }

    function getHash(PaymentInfo calldata paymentInfo) public view returns (bytes32) {
        bytes32 contents = keccak256(abi.encode(PAYMENT_INFO_TYPEHASH, paymentInfo));
        return keccak256(abi.encode(block.chainid, address(this), contents));
    }

    function begin(PaymentInfo calldata info, uint256 amount) private view returns (bytes32 hash) {
        if (amount > info.maxAmount) revert ExceedsMaxAmount(amount, info.maxAmount);
        if (block.timestamp >= info.preApprovalExpiry) {
            revert AfterPreApprovalExpiry(uint48(block.timestamp), info.preApprovalExpiry);
        }
        if (info.preApprovalExpiry > info.authorizationExpiry || info.authorizationExpiry > info.refundExpiry) {
            revert InvalidExpiries(info.preApprovalExpiry, info.authorizationExpiry, info.refundExpiry);
        }
        if (info.maxFeeBps > 10_000) revert FeeBpsOverflow(info.maxFeeBps);
        if (info.minFeeBps > info.maxFeeBps) revert InvalidFeeBpsRange(info.minFeeBps, info.maxFeeBps);
        hash = getHash(info);
        if (paymentState[hash].hasCollectedPayment) revert PaymentAlreadyCollected(hash);
    }

    function checkFee(PaymentInfo calldata info, uint256 amount, uint256 fee, address receiver) private pure {
        uint256 least = (amount * info.minFeeBps) / 10_000;
        uint256 most = (amount * info.maxFeeBps) / 10_000;
        if (fee < least || fee > most) revert FeeAmountOutOfRange(fee, least, most);
        if (fee > 0 && receiver == address(0)) revert ZeroFeeReceiver();
        if (info.feeReceiver != address(0) && info.feeReceiver != receiver) {
            revert InvalidFeeReceiver(receiver, info.feeReceiver);
        }
    }

    function empty(PaymentInfo calldata info) private returns (bytes32 hash, uint256 amount) {
        hash = getHash(info);
        amount = paymentState[hash].capturableAmount;
        if (amount == 0) revert ZeroAuthorization(hash);
        paymentState[hash].capturableAmount = 0;
    }

    function collect(
        PaymentInfo calldata info,
        uint256 amount,
        address collector,
        bytes calldata data,
        uint8 kind
    ) private {
        if (Collector(collector).collectorType() != kind) revert InvalidCollectorForOperation();
        uint256 before = Token(info.token).balanceOf(address(this));
        Collector(collector).collectTokens(info, address(this), amount, data);
        if (Token(info.token).balanceOf(address(this)) != before + amount) revert TokenCollectionFailed();
    }

    function distribute(PaymentInfo calldata info, uint256 amount, uint256 fee, address receiver) private {
        if (fee > 0) send(info.token, receiver, fee);
        if (amount > fee) send(info.token, info.receiver, amount - fee);
    }

    function send(address token, address to, uint256 amount) private {
        require(Token(token).transfer(to, amount));
    }
}

abstract contract EscrowCollector is Collector {
    // A constant, because code that is put at its address runs no constructor.
    address internal constant ESCROW = 0xf96815976523E00e65Be8f34cA5e64b4f41EB19c;

    error OnlyAuthCaptureEscrow();

    modifier byEscrow() {
        if (msg.sender != ESCROW) revert OnlyAuthCaptureEscrow();
        _;
    }
}

/** Takes the payer's money by an EIP-3009 authorization whose nonce is the payment's hash without its payer. */
contract PaymentCollector is EscrowCollector {
    uint8 public constant collectorType = 0;

    function collectTokens(
        PaymentInfo calldata paymentInfo,
        address tokenStore,
        uint256 amount,
        bytes calldata collectorData
    ) external byEscrow {
        PaymentInfo memory anyone = paymentInfo;
        anyone.payer = address(0);
        Token token = Token(paymentInfo.token);
        token.receiveWithAuthorization(
            paymentInfo.payer,
            address(this),
            paymentInfo.maxAmount,
            0,
            paymentInfo.preApprovalExpiry,
            AuthCaptureEscrow(ESCROW).getHash(anyone),
            collectorData
        );
        if (paymentInfo.maxAmount > amount) {
            require(token.transfer(paymentInfo.payer, paymentInfo.maxAmount - amount));
        }
        require(token.transfer(tokenStore, amount));
    }
}

/** Takes a refund from the operator, who has approved this contract. */
contract RefundCollector is EscrowCollector {
    uint8 public constant collectorType = 1;

    function collectTokens(
        PaymentInfo calldata paymentInfo,
        address tokenStore,
        uint256 amount,
        bytes calldata
    ) external byEscrow {
        require(Token(paymentInfo.token).transferFrom(paymentInfo.operator, tokenStore, amount));
    }
}
