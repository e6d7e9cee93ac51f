// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Checker} from './Checker.sol';

/**
 * What USDC (FiatToken 2.2) does where a facilitator can see it: EIP-3009 with both overloads, its order of
 * checks, its words, its events, its EIP-712 domain and its place for each figure in the storage. Whatever
 * belongs to its keepers is open to anyone: a test mints, pauses and blacklists as it pleases.
 */
contract Usdc {
    // In the slots of the real one, so that a tool which writes into its storage finds them.
    address private owner; // 0
    address private pauser; // 1
    bool public paused;
    address private blacklister; // 2
    mapping(address => bool) private oldBlacklist; // 3
    string public name; // 4
    string public symbol; // 5
    uint8 public decimals; // 6
    string private currency; // 7
    address private masterMinter; // 8
    mapping(address => uint256) private balanceAndBlacklistStates; // 9
    mapping(address => mapping(address => uint256)) public allowance; // 10
    uint256 public totalSupply; // 11
    mapping(address => bool) private minters; // 12
    mapping(address => uint256) private minterAllowed; // 13
    address private rescuer; // 14
    bytes32 private oldDomainSeparator; // 15
    mapping(address => mapping(bytes32 => bool)) private authorizationStates; // 16
    mapping(address => uint256) public nonces; // 17

    bytes32 private constant TRANSFER =
        keccak256(
            'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
        );
    bytes32 private constant RECEIVE =
        keccak256(
            'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
        );
    bytes32 private constant PERMIT =
        keccak256('Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)');
    bytes32 private constant CANCEL = keccak256('CancelAuthorization(address authorizer,bytes32 nonce)');
    bytes32 private constant DOMAIN =
        keccak256('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');
    uint256 private constant BLACKLISTED = 1 << 255;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    modifier whenNotPaused() {
        require(!paused, 'Pausable: paused');
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted(account), 'Blacklistable: account is blacklisted');
        _;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        byAuthorization(TRANSFER, from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        byAuthorization(TRANSFER, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        require(to == msg.sender, 'FiatTokenV2: caller must be the payee');
        byAuthorization(RECEIVE, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function cancelAuthorization(
        address authorizer,
        bytes32 nonce,
        bytes memory signature
    ) external whenNotPaused {
        requireUnused(authorizer, nonce);
        requireSigned(authorizer, keccak256(abi.encode(CANCEL, authorizer, nonce)), signature);
        authorizationStates[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return authorizationStates[authorizer][nonce];
    }

    function transfer(
        address to,
        uint256 value
    ) external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(to) returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(
        address spender,
        uint256 value
    ) external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(spender) returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    /** EIP-2612. */
    function permit(
        address from,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(spender) {
        require(deadline == type(uint256).max || deadline >= block.timestamp, 'FiatTokenV2: permit is expired');
        bytes32 contents = keccak256(abi.encode(PERMIT, from, spender, value, nonces[from]++, deadline));
        bytes32 digest = keccak256(abi.encodePacked(hex'1901', DOMAIN_SEPARATOR(), contents));
        require(Checker.isValid(from, digest, abi.encodePacked(r, s, v)), 'EIP2612: invalid signature');
        allowance[from][spender] = value;
        emit Approval(from, spender, value);
    }

    function transferFrom(
        address from,
        address to,
        uint256 value
    ) external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(from) notBlacklisted(to) returns (bool) {
        require(value <= allowance[from][msg.sender], 'ERC20: transfer amount exceeds allowance');
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function balanceOf(address account) public view returns (uint256) {
        return balanceAndBlacklistStates[account] & (BLACKLISTED - 1);
    }

    function isBlacklisted(address account) public view returns (bool) {
        return balanceAndBlacklistStates[account] >> 255 == 1;
    }

    function version() external pure returns (string memory) {
        return '2';
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        // Made anew from the name in the storage at each use, as the real one does.
        return
            keccak256(abi.encode(DOMAIN, keccak256(bytes(name)), keccak256(bytes('2')), block.chainid, address(this)));
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        setBalance(to, balanceOf(to) + value);
        emit Transfer(address(0), to, value);
    }

    function setBlacklisted(address account, bool blacklisted) external {
        balanceAndBlacklistStates[account] = blacklisted ? balanceOf(account) | BLACKLISTED : balanceOf(account);
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function byAuthorization(
        bytes32 kind,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        require(block.timestamp > validAfter, 'FiatTokenV2: authorization is not yet valid');
        require(block.timestamp < validBefore, 'FiatTokenV2: authorization is expired');
        requireUnused(from, nonce);
        requireSigned(
            from,
            keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce)),
            signature
        );
        authorizationStates[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function requireUnused(address authorizer, bytes32 nonce) private view {
        require(!authorizationStates[authorizer][nonce], 'FiatTokenV2: authorization is used or canceled');
    }

    function requireSigned(address signer, bytes32 contents, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked(hex'1901', DOMAIN_SEPARATOR(), contents));
        require(Checker.isValid(signer, digest, signature), 'FiatTokenV2: invalid signature');
    }

    function move(address from, address to, uint256 value) private {
        require(from != address(0), 'ERC20: transfer from the zero address');
        require(to != address(0), 'ERC20: transfer to the zero address');
        require(value <= balanceOf(from), 'ERC20: transfer amount exceeds balance');
        setBalance(from, balanceOf(from) - value);
        setBalance(to, balanceOf(to) + value);
        emit Transfer(from, to, value);
    }

    function setBalance(address account, uint256 balance) private {
        require(balance < BLACKLISTED, 'FiatTokenV2_2: Balance exceeds (2^255 - 1)');
        require(!isBlacklisted(account), 'FiatTokenV2_2: Account is blacklisted');
        balanceAndBlacklistStates[account] = balance;
    }
}
