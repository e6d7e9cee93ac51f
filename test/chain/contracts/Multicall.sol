// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/** The one function of Multicall3 that the service uses; for the address where the real one is on every network. */
contract Multicall {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 place = 0; place < calls.length; place++) {
            Call3 calldata call = calls[place];
            (bool success, bytes memory returnData) = call.target.call(call.callData);
            require(success || call.allowFailure, 'Multicall3: call failed');
            results[place] = Result(success, returnData);
        }
    }
}
