// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Wallet {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/** A library at an address of its own, as with the real token: the call to it is part of a transfer's price. */
library Checker {
    /** Whoever has code is asked (ERC-1271), an account with an EIP-7702 delegation too; its key then counts for nothing. */
    function isValid(address signer, bytes32 digest, bytes memory signature) external view returns (bool) {
        if (signer.code.length == 0) return recover(digest, signature) == signer;
        (bool answered, bytes memory answer) = signer.staticcall(
            abi.encodeCall(Wallet.isValidSignature, (digest, signature))
        );
        return
            answered && answer.length >= 32 && abi.decode(answer, (bytes32)) == bytes32(Wallet.isValidSignature.selector);
    }

    function recover(bytes32 digest, bytes memory signature) private pure returns (address signer) {
        require(signature.length == 65, 'ECRecover: invalid signature length');
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ('memory-safe') {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
        require(
            uint256(s) <= 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0,
            "ECRecover: invalid signature 's' value"
        );
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        signer = ecrecover(digest, v, r, s);
        require(signer != address(0), 'ECRecover: invalid signature');
    }
}
