// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/** USDC stands behind one of these: two more reads of the storage and one more call in the price of a transfer. */
contract Proxy {
    bytes32 private constant ADMIN = keccak256('org.zeppelinos.proxy.admin');
    bytes32 private constant IMPLEMENTATION = keccak256('org.zeppelinos.proxy.implementation');

    fallback() external payable {
        bytes32 adminSlot = ADMIN;
        bytes32 implementationSlot = IMPLEMENTATION;
        address admin;
        address implementation;
        assembly ('memory-safe') {
            admin := sload(adminSlot)
        }
        require(msg.sender != admin, 'Cannot call fallback function from the proxy admin');
        assembly {
            implementation := sload(implementationSlot)
            calldatacopy(0, 0, calldatasize())
            let succeeded := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch succeeded
            case 0 {
                revert(0, returndatasize())
            }
            default {
                return(0, returndatasize())
            }
        }
    }
}
