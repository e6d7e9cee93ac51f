// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Usdc {
    function balanceOf(address account) external view returns (uint256);
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
    function isBlacklisted(address account) external view returns (bool);
    function paused() external view returns (bool);
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
    ) external;
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
}

/**
 * Says of many authorizations at once what USDC would do with each. Never deployed: it exists for the time of
 * an eth_call, put at an address by a state override or made by `Once`.
 */
contract Lens {
    struct Item {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
        bytes signature;
        // What makes the payer's wallet (ERC-6492): a call with this much gas at most. Zero: nothing is to be made.
        address factory;
        uint256 factoryGas;
        bytes factoryData;
    }

    struct Verdict {
        // False where the gas of the call was used up by those before it: ask again.
        bool judged;
        bool succeeds;
        bool used;
        bool payerBlacklisted;
        bool payeeBlacklisted;
        bool paused;
        // 0 none, 1 delegation, 2 contract, 3 none yet: the factory was called first
        uint256 payerCode;
        uint256 balance;
        uint256 gas;
        bytes answer;
    }

    error Done(bool succeeds, uint256 gas, bytes answer);

    // What the questions around a transfer take, with all that they touch for the first time.
    uint256 private constant AROUND = 80_000;
    uint256 private constant LONGEST_ANSWER = 256;

    function judge(Usdc usdc, uint256 gasEach, Item[] calldata items) external returns (Verdict[] memory verdicts) {
        verdicts = new Verdict[](items.length);
        for (uint256 place = 0; place < items.length; place++) {
            // A call gets 63 of 64 parts at most: with less than this it would fail for our reasons, not for its own.
            uint256 wanted = gasEach + items[place].factoryGas;
            if (gasleft() < wanted + wanted / 32 + AROUND) break;
            look(usdc, gasEach, items[place], verdicts[place]);
        }
    }

    /** Does it and takes it back: a frame that reverts leaves nothing behind for the next one. */
    function attempt(Usdc usdc, uint256 gasEach, Item calldata item, bool plain) external {
        bytes memory input = plain && item.signature.length == 65 ? byKey(item) : byWallet(item);
        uint256 before = gasleft();
        if (item.factory != address(0) && item.from.code.length == 0) {
            reach(item.factory, item.factoryGas, item.factoryData);
            if (item.from.code.length == 0) {
                revert Done(false, before - gasleft(), abi.encodeWithSignature('Error(string)', 'no wallet was deployed'));
            }
        }
        bool succeeds = reach(address(usdc), gasEach, input);
        uint256 gas = before - gasleft();
        uint256 size;
        assembly ('memory-safe') {
            size := returndatasize()
        }
        if (size > LONGEST_ANSWER) size = LONGEST_ANSWER;
        bytes memory answer = new bytes(size);
        assembly ('memory-safe') {
            returndatacopy(add(answer, 32), 0, size)
        }
        revert Done(succeeds, gas, answer);
    }

    /** The answer is not copied by itself: what answers with a megabyte would be paid for here. */
    function reach(address target, uint256 gasMax, bytes memory input) private returns (bool succeeds) {
        assembly ('memory-safe') {
            succeeds := call(gasMax, target, 0, add(input, 32), mload(input), 0, 0)
        }
    }

    function look(Usdc usdc, uint256 gasEach, Item calldata item, Verdict memory verdict) private {
        verdict.judged = true;
        verdict.payerCode = codeOf(item.from);
        if (verdict.payerCode == 0 && item.factory != address(0)) verdict.payerCode = 3;
        verdict.balance = usdc.balanceOf(item.from);
        try this.attempt(usdc, gasEach, item, verdict.payerCode == 0) {
            assert(false);
        } catch (bytes memory done) {
            (verdict.succeeds, verdict.gas, verdict.answer) = read(done);
        }
        // Had one of these been the case, it would not have succeeded.
        if (verdict.succeeds) return;
        verdict.used = usdc.authorizationState(item.from, item.nonce);
        verdict.payerBlacklisted = usdc.isBlacklisted(item.from);
        verdict.payeeBlacklisted = usdc.isBlacklisted(item.to);
        verdict.paused = usdc.paused();
    }

    function codeOf(address account) private view returns (uint256) {
        bytes memory code = account.code.length == 23 ? account.code : new bytes(0);
        if (code.length == 23 && code[0] == 0xef && code[1] == 0x01 && code[2] == 0x00) return 1;
        return account.code.length == 0 ? 0 : 2;
    }

    function read(bytes memory done) private pure returns (bool, uint256, bytes memory) {
        // Out of gas outside the transfer itself gives no `Done`.
        if (done.length < 4 || bytes4(done) != Done.selector) return (false, 0, '');
        assembly ('memory-safe') {
            let size := sub(mload(done), 4)
            done := add(done, 4)
            mstore(done, size)
        }
        return abi.decode(done, (bool, uint256, bytes));
    }

    function byKey(Item calldata item) private pure returns (bytes memory) {
        uint8 v = uint8(item.signature[64]);
        return
            abi.encodeWithSignature(
                'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
                item.from,
                item.to,
                item.value,
                item.validAfter,
                item.validBefore,
                item.nonce,
                v < 2 ? v + 27 : v,
                bytes32(item.signature[:32]),
                bytes32(item.signature[32:64])
            );
    }

    function byWallet(Item calldata item) private pure returns (bytes memory) {
        return
            abi.encodeWithSignature(
                'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
                item.from,
                item.to,
                item.value,
                item.validAfter,
                item.validBefore,
                item.nonce,
                item.signature
            );
    }
}

/** For an RPC without state overrides: as the contents of a creation it makes a lens, asks it and returns the answer. */
contract Once {
    constructor(bytes memory question) {
        (bool answered, bytes memory answer) = address(new Lens()).call(question);
        assembly {
            // Code must not begin with 0xef; an answer begins with an offset, a refusal with what this sets.
            if iszero(answered) {
                mstore(add(answer, 32), 0)
            }
            return(add(answer, 32), mload(answer))
        }
    }
}
