// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/** A contract that pays: whatever its owner's key has signed is its signature (ERC-1271). The owner is in slot 0. */
contract OwnedWallet {
    address internal owner;

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

/** Answers with its signature, so a test decides what the answer is. */
contract EchoWallet {
    function isValidSignature(bytes32, bytes calldata signature) external pure returns (bytes4) {
        bytes memory answer = signature;
        assembly ('memory-safe') {
            return(add(answer, 32), mload(answer))
        }
    }
}

/** Answers with a megabyte. */
contract VerboseWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        bytes4 accepted = this.isValidSignature.selector;
        assembly {
            mstore(0, accepted)
            return(0, 1000000)
        }
    }
}

/** Reverts with a reason of its own. */
contract RevertingWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        revert('the wallet is locked');
    }
}

/** What a factory makes: the same wallet with its owner from the start. */
contract MadeWallet is OwnedWallet {
    constructor(address first) {
        owner = first;
    }
}

/** Makes wallets at addresses that are known before (CREATE2, ERC-6492). It makes each one once. */
contract WalletFactory {
    function make(address owner, bytes32 salt) public virtual {
        new MadeWallet{salt: salt}(owner);
    }

    function addressOf(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(MadeWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

/** The salt says how it misbehaves. */
contract HostileFactory is WalletFactory {
    function make(address owner, bytes32 salt) public override {
        uint256 spent;
        // Burns gas as soon as it costs something.
        while (uint256(salt) == 1 && tx.gasprice > 0) spent++;
        // Makes nothing, and says nothing.
        if (uint256(salt) == 2) return;
        if (uint256(salt) == 3) {
            assembly {
                revert(0, 1000000)
            }
        }
        // Makes it for everyone but Multicall3.
        if (uint256(salt) == 4 && msg.sender == 0xcA11bde05977b3631167028862bE2a173976CA11) return;
        super.make(owner, salt);
    }
}
