// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/** A contract that pays: whatever its owner's key has signed is its signature (ERC-1271). The owner is in slot 0. */
contract OwnedWallet {
    address private owner;

    function isValidSignature(bytes32 digest, bytes calldata signature) external view virtual returns (bytes4) {
        return recover(digest, signature) == ownerOf() ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    function ownerOf() internal view virtual returns (address) {
        return owner;
    }

    function recover(bytes32 digest, bytes calldata signature) private pure returns (address) {
        if (signature.length != 65) return address(1);
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
    }
}

/** What an ordinary account delegates to (EIP-7702): its own key signs. */
contract DelegateWallet is OwnedWallet {
    function ownerOf() internal view override returns (address) {
        return address(this);
    }
}

/** Signs nothing. */
contract RefusingWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}

/** Good as long as gas costs nothing, as in a careless simulation; else it burns whatever it is given. */
contract BurningWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 spent;
        while (tx.gasprice > 0) spent++;
        return this.isValidSignature.selector;
    }
}
